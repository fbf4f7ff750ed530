// What modules of Q in JavaScript call: roots, inverses of monotone curves, and numbers next to 0.

/** Return x, and next to nothing for 0: there what is divided by a root of it is 0, too. */
function _off_zero(x) {
  return x === 0 ? Number.MIN_VALUE * 2 ** 52 : x;
}

/** Return tan x for |x| < pi/2, where atan takes it back, else NaN. */
function _tangent(x) {
  return Math.abs(x) < Math.PI / 2 ? Math.tan(x) : NaN;
}

/** Return erfi x = -i erf(i x), by its series, whose terms have one sign. */
function _erfi(x) {
  let term = (2 * x) / Math.sqrt(Math.PI), sum = term;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (x * x) / n;
    sum += term / (2 * n + 1);
  }
  return sum;
}

/** Return x with f(x) = 0, by Newton's steps from near it. */
function _solve(f, slope, x) {
  for (let i = 0; i < 3; i++) {
    const next = x - f(x) / slope(x);
    if (!Number.isFinite(next) || !(Math.abs(f(next)) < Math.abs(f(x)))) break;
    x = next;
  }
  return x;
}

/** Return z(t) with h(z(t)) = value for a t in (-1, 1), by bisection; h is monotone. */
function _between(h, z, value) {
  let low = -1, high = 1;
  const rising = h(z(-0.25)) < h(z(0.25));
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if ((h(z(middle)) < value) === rising) low = middle;
    else high = middle;
  }
  return z((low + high) / 2);
}

/** Return the real root of sum_i c[i] x^i below k others. */
function _root(k, ...c) {
  return _roots(c)[k] ?? NaN;
}

/** Return the real roots of sum_i c[i] x^i, the largest first.
 *
 * Of two terms of a quadratic none is taken from the other: the root of smaller modulus is the
 * product of both by the larger one. Above, roots lie one by one between those of the derivative.
 */
function _roots(c) {
  while (c.length && c.at(-1) === 0) c = c.slice(0, -1);
  if (c.length <= 1) return [];
  if (c.length === 2) return [-c[0] / c[1]];
  if (c.length === 3) {
    const [p, q, r] = c;
    const inside = q * q - 4 * p * r;
    if (inside < 0) return [];
    const far = -(q + (q < 0 ? -1 : 1) * Math.sqrt(inside)) / 2;
    return far === 0 ? [0, 0] : [far / r, p / far].sort((x, y) => y - x);
  }
  const slopes = c.slice(1).map((x, i) => x * (i + 1));
  const at = (row, x) => row.reduceRight((sum, a) => sum * x + a, 0);
  const most = 1 + Math.max(...c.slice(0, -1).map((x) => Math.abs(x / c.at(-1))));
  const ends = [most, ..._roots(slopes), -most];
  const roots = [];
  for (let i = 0; i + 1 < ends.length; i++) {
    let high = ends[i], low = ends[i + 1];
    const above = at(c, high) > 0 || (at(c, high) === 0 && at(c, low) < 0);
    if (at(c, high) * at(c, low) > 0 || high === low) continue;
    let x = (low + high) / 2;
    for (let n = 0; n < 200 && low < x && x < high; n++) {
      if (at(c, x) > 0 === above) high = x;
      else low = x;
      const next = x - at(c, x) / at(slopes, x);
      if (Math.abs(next - x) <= 1e-16 * Math.abs(x)) break;
      x = low < next && next < high ? next : (low + high) / 2;
    }
    roots.push(x);
  }
  return roots;
}

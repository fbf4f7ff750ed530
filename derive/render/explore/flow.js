// The numbers of the page: gradient flow in the weights, and the minimiser of Q on the data.
// Neither knows the other: the flow uses F and J alone, Newton's steps use Q alone.

/** Relative and absolute error of a step of the flow, and the residual at which it has arrived. */
export const TOLERANCE = {relative: 1e-9, absolute: 1e-13, residual: 1e-8};

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const norm = (a) => Math.hypot(...a);
const add = (a, s, b) => a.map((x, i) => x + s * b[i]);

/** The pair of Dormand and Prince (1980): rows of stages; the last is the step of order 5. */
const STAGES = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
/** Step of order 5 minus that of order 4. */
const ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

/** Return where a step of length h leads from w, where f is *first*, and the slopes on the way. */
function step(f, w, first, h) {
  const slopes = [first];
  let next = w;
  for (let s = 1; s < STAGES.length; s++) {
    next = w.slice();
    for (let j = 0; j < s; j++) {
      for (let i = 0; i < w.length; i++) next[i] += h * STAGES[s][j] * slopes[j][i];
    }
    slopes.push(f(next));
  }
  return [next, slopes];
}

/** Integrate w' = f(w) from w until *arrived(w)*; return times, points, and whether it arrived. */
export function integrate(f, w, arrived, {end = Infinity, most = 4000} = {}) {
  const path = {t: [0], w: [w], arrived: arrived(w)};
  let t = 0, first = f(w), h = 0.01 / (1 + norm(first));
  for (let n = 0; n < most && !path.arrived && t < end; n++) {
    const last = h >= end - t;
    if (last) h = end - t;
    const [next, slopes] = step(f, w, first, h);
    let error = 0;
    for (let i = 0; i < w.length; i++) {
      let wrong = 0;
      for (let j = 0; j < ERROR.length; j++) wrong += h * ERROR[j] * slopes[j][i];
      const size = Math.max(Math.abs(w[i]), Math.abs(next[i]));
      const ratio = Math.abs(wrong) / (TOLERANCE.absolute + TOLERANCE.relative * size);
      if (!(ratio <= error)) error = ratio;
      if (Number.isNaN(error)) break;
    }
    if (error <= 1) {
      [t, w, first] = [last ? end : t + h, next, slopes[6]];
      path.t.push(t);
      path.w.push(w);
      path.arrived = arrived(w);
    }
    const factor = Number.isFinite(error) ? 0.9 * Math.max(error, 1e-8) ** -0.2 : 0.1;
    h *= Math.min(5, Math.max(0.1, factor));
    if (!(h > 1e-300)) break;
  }
  return path;
}

/** Return a module as a model: with d, and G^-1 J^T times a covector of the outputs. */
export function model_of(one) {
  const pull = (w, c, v) => {
    const rows = one.J(w, c);
    return one.raise(w, c, w.map((_, k) => rows.reduce((sum, row, i) => sum + row[k] * v[i], 0)));
  };
  return {...one, d: one.model.outputs, pull};
}

/** Solve a linear system by elimination: with a positive definite matrix, alone or with its border. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]), n = right.length;
  for (let k = 0; k < n; k++) {
    for (let i = k + 1; i < n; i++) rows[i] = add(rows[i], -rows[i][k] / rows[k][k], rows[k]);
  }
  const z = Array(n).fill(0);
  for (let k = n - 1; k >= 0; k--) {
    z[k] = (rows[k][n] - dot(rows[k].slice(0, n), z)) / rows[k][k];
  }
  return z;
}

/** Return how weights w, steered along a step of beta, move with the share of it that is done: dw = G^-1 J^T ds,
 * ds = K^-1 dbeta, and dQ = <s, dbeta>, where s is grad Q if there is one. The state is w, s and Q. */
function steering(m, c, step) {
  return (v) => {
    const w = v.slice(0, -step.length - 1), s = v.slice(w.length, -1), slope = solve(m.K(w, c), step);
    return [...m.pull(w, c, slope), ...slope, dot(s, step)];
  };
}

/** Lift a path of beta, a list of corners, to the weights; return both, and the integral of what steered. */
export function lift(m, c, corners) {
  const begin = m.start(c), path = {points: [[...begin, ...corners[0].map(() => 0), 0]], arrived: true};
  for (let n = 1; n < corners.length; n++) {
    const way = steering(m, c, add(corners[n], -1, corners[n - 1]));
    const part = integrate(way, path.points.at(-1), () => false, {end: 1});
    path.arrived &&= part.t.at(-1) === 1;
    path.points.push(...part.w.slice(1));
  }
  const w = path.points.map((v) => v.slice(0, begin.length));
  return {w, arrived: path.arrived, beta: w.map((v) => m.F(v, c)), steered: path.points.at(-1).slice(begin.length, -1)};
}

/** Return Q of one output on the leaf of the start, from F alone.
 *
 * Steps away from beta_0 are kept; a point between them is one more step from the last before it. */
export function on_leaf(one) {
  let known = "", sides = {}, beta0 = 0;
  const at = ([beta], c) => {
    if (known !== JSON.stringify(c)) {
      const w = one.start(c);
      [known, beta0] = [JSON.stringify(c), one.F(w, c)[0]];
      const side = (way) => ({way: steering(one, c, [way]), t: [0], w: [[...w, 0, 0]], open: true});
      sides = {[-1]: side(-1), 1: side(1)};
    }
    const side = sides[beta < beta0 ? -1 : 1], far = Math.abs(beta - beta0), reached = side.t.at(-1);
    if (side.open && far > reached) {
      const end = Math.max(far - reached, 1);
      const more = integrate(side.way, side.w.at(-1), () => false, {end, most: 1000});
      side.open = more.t.at(-1) === end;
      side.t.push(...more.t.slice(1).map((t) => reached + t));
      side.w.push(...more.w.slice(1));
    }
    if (!(far <= side.t.at(-1))) return [NaN, NaN];
    const n = side.t.findLastIndex((t) => t <= far), from = side.w[n];
    return step(side.way, from, side.way(from), far - side.t[n])[0];
  };
  return {
    inside: (beta, c) => at(beta, c).every(Number.isFinite),
    Q: (beta, c) => at(beta, c).at(-1),
    gradient: (beta, c) => [at(beta, c).at(-2)],
    hessian: (beta, c) => [[1 / one.K(at(beta, c).slice(0, -2), c)[0][0]]],
  };
}

/** Return several copies of a model of one output, each with weights of its own. */
export function copies(one, count) {
  const each = [...Array(count).keys()], p = one.model.weights.length;
  const own = (w, i) => w.slice(i * p, (i + 1) * p);
  const diagonal = (values) => values.map((x, i) => values.map((_, j) => (i === j ? x : 0)));
  return {
    d: count,
    start: (c) => each.flatMap(() => one.start(c)),
    F: (w, c) => each.map((i) => one.F(own(w, i), c)[0]),
    pull: (w, c, v) => each.flatMap((i) => one.pull(own(w, i), c, [v[i]])),
    K: (w, c) => diagonal(each.map((i) => one.K(own(w, i), c)[0][0])),
    g: () => 1,
    Q: (beta, c) => beta.reduce((sum, b) => sum + one.Q([b], c), 0),
    gradient: (beta, c) => beta.map((b) => one.gradient([b], c)[0]),
    hessian: (beta, c) => diagonal(beta.map((b) => one.hessian([b], c)[0][0])),
    inside: (beta, c) => beta.every((b) => one.inside([b], c)),
    along: (w, c) => each.flatMap((i) => one.along(own(w, i), c)),
  };
}

/** Follow gradient flow on (x . beta - y)^2/2 from the start: times, weights, beta, residual. */
export function follow(m, c, x, y) {
  const residual = (w) => dot(x, m.F(w, c)) - y;
  const begin = m.start(c), scale = Math.max(Math.abs(y), Math.abs(residual(begin)), 1e-300);
  const slope = (w) => {
    const r = residual(w);
    return m.pull(w, c, x.map((v) => -r * v));
  };
  const near = (w) => Math.abs(residual(w)) <= TOLERANCE.residual * scale;
  const path = integrate(slope, begin, near);
  return {...path, beta: path.w.map((w) => m.F(w, c)), residual: residual(path.w.at(-1))};
}

/** Follow gradient flow on L = sum_i exp(-<z_i, beta>) in the clock l = log(1/L), until l = end.
 *
 * With p_i = exp(-<z_i, beta>)/L and x = sum_i p_i z_i it is dw/dl = G^-1 J^T x/<x, K x>. Beside w run
 * log(1 + t), as dt/dl = exp(l)/<x, K x>, and the integral of g L x dt, which grad Q is to be. */
export function separate(m, c, rows, end) {
  const begin = m.start(c), p = begin.length;
  const level = (beta) => {
    const u = rows.map((z) => dot(z, beta)), least = Math.min(...u);
    const each = u.map((v) => Math.exp(least - v)), sum = each.reduce((a, b) => a + b);
    return {l: least - Math.log(sum), x: rows.reduce((x, z, i) => add(x, each[i] / sum, z), beta.map(() => 0))};
  };
  const slope = (v) => {
    const w = v.slice(0, p), {l, x} = level(m.F(w, c)), g = m.g(w, c);
    const unit = dot(x, m.K(w, c).map((row) => dot(row, x)));
    return [...m.pull(w, c, x), Math.exp(l - v[p]), ...x.map((s) => g * s)].map((s) => s / unit);
  };
  const first = m.F(begin, c), span = end - level(first).l;
  const path = integrate(slope, [...begin, 0, ...first.map(() => 0)], () => false, {end: span});
  const w = path.w.map((v) => v.slice(0, p)), beta = w.map((v) => m.F(v, c));
  return {
    w, beta, arrived: path.t.at(-1) === span, l: beta.map((b) => level(b).l),
    t: path.w.map((v) => v[p]), steered: path.w.map((v) => v.slice(p + 1)),
  };
}

/** Return the b of the plane at which phi is least while all <z_i, b> >= 1, by golden sections of
 * its angle; null where no line through 0 has all z_i on one side. phi is convex, of degree 1. */
export function widest(phi, rows) {
  const [[a, b]] = rows, begin = Math.atan2(b, a);
  const turns = rows.map(([u, v]) => Math.atan2(a * v - b * u, a * u + b * v));
  let [low, high] = [Math.max(...turns) - Math.PI / 2, Math.min(...turns) + Math.PI / 2];
  if (!(low < high)) return null;
  const point = (turn) => {
    const unit = [Math.cos(begin + turn), Math.sin(begin + turn)];
    const margin = Math.min(...rows.map((z) => dot(z, unit)));
    return unit.map((v) => v / margin);
  };
  const ratio = (Math.sqrt(5) - 1) / 2;
  for (let n = 0; n < 80; n++) {
    const size = ratio * (high - low), [left, right] = [high - size, low + size];
    if (phi(point(left)) < phi(point(right))) high = right;
    else low = left;
  }
  return point((low + high) / 2);
}

/** Return a point with x . beta = y in the domain, by the nearest one and others on the line. */
function feasible(m, c, x, y, near) {
  const project = (b, height) => add(b, (height - dot(x, b)) / dot(x, x), x);
  const closest = project(near, y), reach = 1 + norm(closest) + norm(near);
  const ways = x.map((_, i) => project(x.map((_, j) => (i === j ? 1 : 0)), 0));
  const far = (n) => ways.flatMap((way) => [n, -n].map((t) => add(closest, (t * reach) / 100, way)));
  for (let n = 0; n <= 400; n++) {
    const found = far(n).find((beta) => m.inside(beta, c));
    if (found) return found;
  }
  return null;
}

/** Return the minimiser of Q among the beta with x . beta = y, by damped Newton's steps.
 *
 * A step s and a multiplier n solve H s + n x = -grad Q, x . s = 0. Q is convex: a step is shortened
 * until the slope of Q + n x . beta along it is smaller. Beyond a wall the slope is NaN, and it is shortened, too.
 */
export function minimise(m, c, x, y) {
  let beta = feasible(m, c, x, y, m.F(m.start(c), c)), steps = 0;
  if (beta === null) return {beta, steps, converged: false};
  for (;;) {
    const slopes = m.gradient(beta, c), rows = m.hessian(beta, c).map((row, i) => [...row, x[i]]);
    const solved = solve([...rows, [...x, 0]], [...slopes.map((s) => -s), 0]), step = solved.slice(0, -1);
    const along = (t) => dot(add(m.gradient(add(beta, t, step), c), solved.at(-1), x), step);
    const size = norm(step) / (1 + norm(beta)), slope = along(0);
    let t = 1;
    while (t > 1e-12 && !(Math.abs(along(t)) <= Math.abs(slope) * (1 - t / 4))) t /= 2;
    if (!(slope < 0) || t <= 1e-12 || ++steps === 300) return {beta, steps, converged: size < 1e-9};
    beta = add(beta, t, step);
    if (size <= 1e-13) return {beta, steps, converged: true};
  }
}

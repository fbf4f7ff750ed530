// The picture: it follows the sliders and the handles of the data. All that is drawn comes from
// the module of the derivation, and from flow.js; D3 draws axes and contours, and reads the pointer.

const GIVEN = JSON.parse(document.getElementById("given").textContent), EXISTING = !GIVEN.modes.includes("none");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const one = model_of(EXISTING ? {model, start, F, J, K, raise, g, along, Q, gradient, hessian, inside} : {model, start, F, J, K, raise});
const m = GIVEN.copies > 1 ? copies(one, GIVEN.copies) : one;
const asked = (c) => (EXISTING ? conditions(c) : []);
const byId = (id) => document.getElementById(id);
const digits = (x) => (Number.isFinite(x) ? (Object.is(x, -0) ? 0 : x).toPrecision(8) : "none");
const vector = (v) => (v === null ? "none" : `(${v.map((x) => digits(Math.abs(x) < 1e-14 * norm(v) ? 0 : x)).join(", ")})`);

// ---- What is set: constants, the data (a line through two handles, or labelled points), and how
// far the flow is shown.

const c = {...GIVEN.values};
const POINTS = [[1.2, 1.8], [-0.6, 2.6], [1, -2.6], [-1.8, -2.2]], LABELS = [1, 1, -1, -1];
const state = {handles: [], points: POINTS, at: 1, plane: [0, 1], walls: null, playing: null};
const panes = document.querySelector(".panes");
[panes.dataset.mode] = GIVEN.modes;

/** Show a number: its value stands beside the text, for whoever reads the page by a program. */
function put(id, value, text) {
  const place = byId(id);
  if (!place) return;
  place.textContent = text;
  place.dataset.value = JSON.stringify(value);
}

/** Return the interval of a coordinate around the start, inside of the walls. */
function extent(beta, i) {
  const half = Math.max(2, 1.5 * Math.abs(beta[i]));
  const there = (x) => goesOn(beta, i, x);
  const end = (far) => {
    if (there(far)) return far;
    let [near, wall] = [beta[i], far];
    for (let n = 0; n < 60; n++) {
      const middle = (near + wall) / 2;
      if (there(middle)) near = middle;
      else wall = middle;
    }
    return wall;
  };
  return [end(beta[i] - half), end(beta[i] + half)];
}

// ---- The plane of two coordinates: level sets, the data line, the path.

const SIZE = 460, EDGE = {left: 40, right: 14, top: 24, bottom: 40};
const svg = d3.select("#plane").attr("viewBox", `0 0 ${SIZE} ${SIZE}`);
const sx = d3.scaleLinear().range([EDGE.left, SIZE - EDGE.right]);
const sy = d3.scaleLinear().range([SIZE - EDGE.bottom, EDGE.top]);
svg.append("clipPath").attr("id", "inner").append("rect")
  .attr("x", EDGE.left).attr("y", EDGE.top)
  .attr("width", SIZE - EDGE.left - EDGE.right).attr("height", SIZE - EDGE.top - EDGE.bottom);
const inner = svg.append("g").attr("clip-path", "url(#inner)");
const [zeros, levels, lines, paths, marks] = ["zeros", "levels", "lines", "paths", "marks"]
  .map((name) => inner.append("g").attr("class", name));
const handles = svg.append("g").attr("class", "handles");
const curve = d3.line((p) => sx(p[state.plane[0]]), (p) => sy(p[state.plane[1]]));
const N = 57;

/** Draw elements of one kind, one for each entry of the data. */
const draw = (group, tag, data, kind) =>
  group.selectAll(tag).data(data).join(tag.split(".")[0]).attr("class", kind);

/** Draw the axes of two scales, with their names. */
function drawAxes(place, x, y, ticks, names = []) {
  const [left] = x.range(), [bottom] = y.range();
  draw(place, "g.bottom", [0], "bottom axis").attr("transform", `translate(0,${bottom})`)
    .call(d3.axisBottom(x).ticks(ticks));
  draw(place, "g.left", [0], "left axis").attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).ticks(ticks));
  const named = [[(left + x.range()[1]) / 2, bottom + 35], [left - 6, 14]];
  draw(place, "text.name", names, "name").text((name) => name)
    .attr("x", (_, n) => named[n][0]).attr("y", (_, n) => named[n][1]);
}

/** Tell whether the domain goes on where a coordinate has another value. */
const goesOn = (beta, i, x) => m.inside(beta.map((b, j) => (i === j ? x : b)), c);

/** Tell, for each end of the window, whether a wall is there. */
function wallsAt(beta, spans) {
  return spans.map(([a, b], k) => {
    const beyond = 1e-6 * (b - a);
    return [!goesOn(beta, state.plane[k], a - beyond), !goesOn(beta, state.plane[k], b + beyond)];
  });
}

/** Set the window to the domain around the start, and the axes; handles keep their places in it. */
function frame(beta) {
  const [i, j] = state.plane, old = [sx.copy(), sy.copy()];
  let spans = [extent(beta, i), extent(beta, j)];
  const broad = Math.max(...spans.map(([a, b]) => b - a));
  spans = spans.map(([a, b], k) => (goesOn(beta, state.plane[k], a + broad) ? [a, a + broad] : [a, b]));
  sx.domain(spans[0]);
  sy.domain(spans[1]);
  state.walls = wallsAt(beta, spans);
  state.handles = state.handles.map((p) => p.map((v, k) => [sx, sy][k].invert(old[k](v))));
  drawFrame(spans, [GIVEN.outputs[i], GIVEN.outputs[j]]);
}

/** Draw the axes of the window, the lines where a coordinate is 0, and walls. */
function drawFrame(spans, names) {
  drawAxes(svg, sx, sy, 6, names);
  const upright = (x) => [[x, sy.domain()[0]], [x, sy.domain()[1]]];
  const level = (y) => [[sx.domain()[0], y], [sx.domain()[1], y]];
  const straight = d3.line((p) => sx(p[0]), (p) => sy(p[1]));
  draw(zeros, "path.zero", [upright(0), level(0)], "zero").attr("d", straight);
  const walls = [upright, level].flatMap((line, k) => spans[k].filter((_, n) => state.walls?.[k][n]).map(line));
  draw(zeros, "path.wall", walls, "wall").attr("d", straight);
}

/** Tell whether the window no longer fits: the start nears its edge, or walls have moved. */
function outgrown(beta) {
  const spans = [sx.domain(), sy.domain()];
  const near = spans.some(([a, b], k) => {
    const t = (beta[state.plane[k]] - a) / (b - a);
    return (t < 0.05 && !state.walls[k][0]) || t < 0 || (t > 0.95 && !state.walls[k][1]) || t > 1;
  });
  return near || String(wallsAt(beta, spans)) !== String(state.walls);
}

/** Return the first places of the handles: a line that is not symmetric, within the window. */
function firstHandles() {
  const at = (scale, t) => d3.interpolateNumber(...scale.domain())(t);
  return [[at(sx, 0.35), at(sy, 0.92)], [at(sx, 0.94), at(sy, 0.42)]];
}

/** Return x and y of the line x . beta = y through the handles, |x| = 1. */
function data() {
  const [[a, b], [e, f]] = state.handles, [i, j] = state.plane;
  const length = Math.hypot(e - a, f - b) || 1;
  const x = Array(m.d).fill(0);
  [x[i], x[j]] = [(f - b) / length, -(e - a) / length];
  const y = x[i] * a + x[j] * b;
  return y < 0 ? [x.map((v) => -v), -y] : [x, y];
}

/** Return the coordinate at a share of an interval; shares are closer at ends that are walls. */
function graded(t, [a, b], [low, high] = []) {
  const [from, to] = [low ? -Math.PI / 2 : 0, high ? Math.PI / 2 : 0], inside = from < to && t > 0 && t < 1;
  const share = (Math.sin(from + t * (to - from)) - Math.sin(from)) / (Math.sin(to) - Math.sin(from));
  return a + (inside ? share : t) * (b - a);
}

/** Return the coordinates of a grid, a cell wider than the window, one at 0: there Q may have a kink. */
function nodes(scale) {
  const walls = state.walls?.[scale === sx ? 0 : 1];
  const all = d3.range(N).map((n) => graded((n - 1) / (N - 3), scale.domain(), walls));
  const nearest = d3.minIndex(all, Math.abs);
  if (0 < nearest && nearest < N - 1) all[nearest] = 0;
  return all;
}

/** Return a coordinate inside of the window, of which a wall may be the end. */
function within(scale, v) {
  const [a, b] = scale.domain(), edge = 1e-7 * (b - a);
  return Math.min(Math.max(v, a + edge), b - edge);
}

/** Return a function on the grid of the window in the plane through a point; *each* is that of one
 * coordinate where it is a sum of such. */
function onGrid(f, each, through) {
  const [i, j] = state.plane, values = new Float64Array(N * N), beta = [...through];
  const [along, up] = [sx, sy].map((scale) => nodes(scale).map((v) => within(scale, v)));
  const column = each && along.map(each);
  up.forEach((v, n) => {
    beta[j] = v;
    const row = each && each(v);
    for (let u = 0; u < N; u++) {
      beta[i] = along[u];
      values[n * N + u] = each ? column[u] + row : f(beta);
    }
  });
  return values;
}

/** Return Q in the plane through a point at a multiple of beta. */
function sheet(through, size = 1) {
  const each = GIVEN.copies > 1 && ((v) => one.Q([size * v], c));
  return onGrid((beta) => m.Q(beta.map((b) => size * b), c), each, through);
}

/** Draw level sets of functions on the grid: values, the level, and of which kind. */
function drawLevels(shown) {
  const columns = nodes(sx), rows = nodes(sy);
  const contour = d3.contours().size([N, N]);
  const [x, y] = [columns, rows].map((all) => d3.scaleLinear(d3.range(N), all));
  const point = function (u, v) {
    this.stream.point(sx(x(u - 0.5)), sy(y(v - 0.5)));
  };
  const path = d3.geoPath(d3.geoTransform({point}));
  draw(levels, "path", shown, ({kind}) => `level ${kind}`)
    .attr("d", ({values, q}) => path(contour.contour(values, q)));
}

/** Draw the level sets of Q through a point, and those at even steps on the way to it. */
function drawSteps(from, to) {
  const values = sheet(to), ray = (t) => m.Q(from.map((b, k) => b + t * (to[k] - b)), c);
  const steps = [1 / 4, 1 / 2, 3 / 4, 1, 4 / 3, 5 / 3, 2].map((t) => ({values, q: ray(t), kind: t === 1 ? "touching" : ""}));
  drawLevels(steps.filter(({q}) => Number.isFinite(q)));
}

/** Draw a small mark with a title. */
function drawMarks(entries) {
  const groups = draw(marks, "g", entries.filter((e) => e.beta), (e) => `mark ${e.kind}`);
  groups.attr("transform", ({beta}) => `translate(${sx(beta[state.plane[0]])},${sy(beta[state.plane[1]])})`);
  groups.selectAll("path").data((e) => [e]).join("path")
    .attr("d", ({kind}) => d3.symbol(...{
      start: [d3.symbolX, 70], minimiser: [d3.symbolCircle, 190], end: [d3.symbolCircle, 60],
      l1: [d3.symbolDiamond, 60], l2: [d3.symbolSquare, 50],
    }[kind])());
  groups.selectAll("title").data((e) => [e]).join("title").text(({says}) => says);
}

/** Return the points of least l1 and l2 norm on the line. */
function least(x, y) {
  const k = d3.maxIndex(x, Math.abs);
  return [x.map((_, i) => (i === k ? y / x[k] : 0)), x.map((v) => (v * y) / dot(x, x))];
}

function drawPlane(found) {
  const {x, y, flow, least: minimiser, begin} = found;
  const [[a, b], [e, f]] = state.handles;
  const far = 50;
  draw(lines, "path", [[[a - far * (e - a), b - far * (f - b)], [a + far * (e - a), b + far * (f - b)]]], "data")
    .attr("d", d3.line((p) => sx(p[0]), (p) => sy(p[1])));
  drawSteps(begin, minimiser.beta ?? flow.beta.at(-1));
  const [l1, l2] = least(x, y);
  found.marks = [
    {kind: "start", beta: begin, says: "the start"},
    {kind: "l1", beta: l1, says: "least l1 norm"},
    {kind: "l2", beta: l2, says: "least l2 norm"},
    {kind: "minimiser", beta: minimiser.beta, says: "the minimiser of Q on the line"},
  ];
  found.show = () => {
    const last = Math.round(state.at * (flow.beta.length - 1)), t = flow.t[last];
    drawPath(flow.beta.slice(0, last + 1), found.marks);
    put("time", t, `t = ${t.toPrecision(3)}`);
    put("here", flow.beta[last], vector(flow.beta[last]));
    if (byId("curve-g")) drawCurves(found);
  };
  found.show();
}

/** Show a path, its end, and other marks. */
function drawPath(path, others) {
  draw(paths, "path", [path], "flow").attr("d", curve);
  drawMarks([...others, {kind: "end", beta: path.at(-1), says: "beta(t)"}]);
}

const WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

/** Let points of a plane be dragged, and moved by arrow keys, within its window; return what draws them. */
function movable(group, scales, places, says, kind = () => "") {
  const place = (h) => scales.map((scale, k) => scale(places()[h][k]));
  const move = (h, to) => {
    places()[h] = scales.map((scale, k) => within(scale, scale.invert(to[k])));
    update();
  };
  const plane = group.node().ownerSVGElement;
  const drag = d3.drag().container(plane).subject((_, h) => ({x: place(h)[0], y: place(h)[1]}));
  return () => group.selectAll("circle").data(places().keys()).join((enter) =>
    enter.append("circle").attr("r", 8).attr("tabindex", 0).attr("role", "slider")
      .attr("class", (h) => `handle ${kind(h)}`)
      .attr("aria-label", (h) => `${says} ${h + 1}: arrow keys move it`)
      .call(drag.on("drag", (event, h) => move(h, [event.x, event.y])))
      .on("keydown", (event, h) => {
        if (!(event.key in WAYS)) return;
        event.preventDefault();
        move(h, place(h).map((v, k) => v + (event.shiftKey ? 20 : 4) * WAYS[event.key][k]));
      }))
    .attr("cx", (h) => place(h)[0]).attr("cy", (h) => place(h)[1])
    .attr("aria-valuenow", (h) => places()[h][0].toFixed(3))
    .attr("aria-valuetext", (h) => places()[h].map((v) => v.toFixed(3)).join(", "));
}

const drawHandles = movable(handles, [sx, sy], () => state.handles, "handle of the data line");

// ---- Separable data: beta(t) at margin 1 runs to where a level set of the horizon of Q touches.

/** The logarithm of 1/L at which the flow is left. */
const END = 100;
const px = d3.scaleLinear([-3, 3], [EDGE.left, SIZE - EDGE.right]);
const py = d3.scaleLinear([-3, 3], [SIZE - EDGE.bottom, EDGE.top]);
const plane = d3.select("#points").attr("viewBox", `0 0 ${SIZE} ${SIZE}`);
const separators = plane.append("g").attr("clip-path", "url(#inner)");
const drawPoints = GIVEN.modes.includes("points") && movable(plane.append("g"), [px, py], () => state.points, "point", (h) => (LABELS[h] < 0 ? "minus" : ""));

/** Draw the line where <b, x> is a number, in a window around 0. */
const lineAt = ([x, y], b, height) => {
  const size = dot(b, b), foot = b.map((v) => (height * v) / size), far = (3 * x.domain()[1]) / Math.sqrt(size);
  return d3.line((t) => x(foot[0] - t * b[1]), (t) => y(foot[1] + t * b[0]))([-far, far]);
};

function drawSeparation() {
  drawAxes(plane, px, py, 6, ["x\u2081", "x\u2082"]);
  drawPoints();
  const rows = state.points.map((x, i) => x.map((v) => LABELS[i] * v)), phi = (b) => horizon(b, c);
  const b = widest(phi, rows);
  if (b === null) {
    say("No line through 0 has these points on the sides of their labels: drag them apart.");
    return;
  }
  const flow = separate(m, c, rows, END), last = flow.w.length - 1;
  if (breaks(flow.w)) return;
  if (!flow.arrived) {
    say("From there the flow was not followed to L = exp(-100): choose another start, or other points.");
    return;
  }
  const margins = flow.beta.map((beta) => Math.min(...rows.map((z) => dot(z, beta))));
  const first = margins.findIndex((u) => u > 0), size = 2 * Math.max(...b.map(Math.abs));
  if (state.walls || !(sx.domain()[1] > size / 2 && sx.domain()[1] < 2 * size)) {
    [sx, sy].forEach((scale) => scale.domain([-size, size]));
    state.walls = null;
    drawFrame([sx, sy].map((scale) => scale.domain()), GIVEN.outputs.map((name) => `${name} / margin`));
  }
  draw(lines, "path", rows, "data").attr("d", (z) => lineAt([sx, sy], z, 1));
  const limit = {values: onGrid(phi, null, b), q: phi(b), kind: "horizon"}, largest = 1 / phi(b);
  const norms = {l1: (v) => Math.abs(v[0]) + Math.abs(v[1]), l2: norm};
  const others = Object.entries(norms).map(([kind, f]) => ({kind, beta: widest(f, rows), says: `largest ${kind} margin`}));
  others.push({kind: "minimiser", beta: b, says: "where a level set of the horizon touches"});
  const scaled = flow.beta.map((beta, n) => beta.map((v) => v / margins[n]));
  const ratios = flow.beta.map((beta, n) => [flow.t[n], margins[n] / phi(beta) / largest]).slice(first);
  const zero = m.gradient(flow.beta[0], c);
  put("rows", rows, rows.map(vector).join(", "));
  put("largest", largest, digits(largest));
  put("towards", b, vector(b.map((v) => v * largest)));
  latest = {show: () => {
    const n = first + Math.round(state.at * (last - first)), beta = flow.beta[n], here = scaled[n];
    drawLevels([limit, {values: sheet(here, margins[n]), q: m.Q(beta, c), kind: "touching"}]);
    drawPath(scaled.slice(first, n + 1), others);
    const drawn = [[b, 0, "limit"], [here, 0, "flow"], [here, 1, "strip"], [here, -1, "strip"]];
    draw(separators, "path", drawn, ([, , kind]) => kind).attr("d", ([v, height]) => lineAt([px, py], v, height));
    drawCurve("curve-margin", [ratios, [[0, 1], [flow.t[last], 1]]], [0, flow.t[last]], [], [ratios[n - first]]);
    const slope = m.gradient(beta, c).map((v, k) => v - zero[k]);
    put("time", flow.t[n], `log t = ${flow.t[n].toPrecision(4)}`);
    put("loss", flow.l[n], digits(flow.l[n]));
    put("margin", margins[n] / phi(beta), digits(margins[n] / phi(beta)));
    put("direction", beta, vector(beta.map((v) => v / phi(beta))));
    put("steered", flow.steered[n], vector(flow.steered[n]));
    put("slope", slope, vector(slope));
    const apart = norm(slope.map((v, k) => v - flow.steered[n][k]));
    put("unequal", apart, apart.toExponential(2));
  }};
  say("");
  latest.show();
}

// ---- Curves: of one output by itself, and of the warp along the path.

/** Draw the points of functions in a small picture, with walls, and some of them dotted. */
function drawCurve(id, curves, [low, high], walls, at) {
  const size = [220, 130], edge = {left: 46, right: 14, top: 8, bottom: 22};
  const place = d3.select(`#${id}`).attr("viewBox", `0 0 ${size[0]} ${size[1]}`);
  const ranked = curves.flat().map((p) => p[1]).sort(d3.ascending);
  const [least, most] = [d3.quantile(ranked, 0.02), d3.quantile(ranked, 0.98)];
  const room = 0.06 * (most - least) || 1;
  const x = d3.scaleLinear([low, high], [edge.left, size[0] - edge.right]);
  const y = d3.scaleLinear([least - room, most + room], [size[1] - edge.bottom, edge.top]);
  drawAxes(place, x, y, 4);
  const kept = (v) => y(Math.max(least - room, Math.min(most + room, v)));
  draw(place, "path.curve", curves, (_, n) => `curve way-${n}`).attr("d", d3.line((p) => x(p[0]), (p) => kept(p[1])));
  draw(place, "path.wall", walls, "wall").attr("d", (w) => `M${x(w)},${edge.top}V${size[1] - edge.bottom}`);
  draw(place, "circle", at.filter(([b]) => b >= low && b <= high), "dot").attr("r", 3.5)
    .attr("cx", (p) => x(p[0])).attr("cy", (p) => kept(p[1]));
}

function drawCurves(found) {
  if (GIVEN.copies > 1) {
    const [b0] = one.F(one.start(c), c), [low, high] = sx.domain(), zero = one.Q([b0], c);
    const beyond = (w) => !one.inside([w + (w === low ? -1e-6 : 1e-6) * (high - low)], c);
    const of = {
      Q: (b) => one.Q([b], c) - zero,
      gradient: (b) => one.gradient([b], c)[0],
      K: (b) => 1 / one.hessian([b], c)[0][0],
    };
    for (const [name, f] of Object.entries(of)) {
      const value = (b) => [b, f(b)], there = (p) => Number.isFinite(p[1]);
      const points = d3.range(1, 240).map((n) => value(low + ((high - low) * n) / 240));
      const at = (found.least.beta ?? []).map(value).filter(there);
      drawCurve(`curve-${name}`, [points.filter(there)], [low, high], [low, high].filter(beyond), at);
    }
    const near = (end) => (beyond(end) ? end + 0.01 * (b0 - end) : within(sx, end));
    const [down, up] = [low, high].map((end) => lift(one, c, [[b0], [near(end)]]));
    const leaf = [...down.w.slice(1).reverse(), ...up.w];
    const curves = one.model.weights.map((_, k) => leaf.map((w) => [one.F(w, c)[0], w[k]]));
    drawCurve("curve-F", curves, [low, high], [low, high].filter(beyond), curves.map((line) => line[down.w.length - 1]));
  } else if (byId("curve-g")) {
    const last = found.flow.w.length - 1;
    const points = found.flow.w.map((w, n) => [n / last, m.g(w, c)]);
    drawCurve("curve-g", [points], [0, 1], [], [points[Math.round(state.at * last)]]);
  }
}

// ---- Where there is no Q: two ways to one beta that end at different weights.

function drawRefutation() {
  const beta = m.F(m.start(c), c), [i, j] = state.plane;
  const size = Math.max(state.at, 0.01) * Number(byId("size").value);
  const corner = (a, b) => beta.map((v, k) => v + (k === i ? a * size : 0) + (k === j ? b * size : 0));
  const ways = [[corner(0, 0), corner(1, 0), corner(1, 1)], [corner(0, 0), corner(0, 1), corner(1, 1)]];
  const [first, second] = ways.map((way) => lift(m, c, way));
  if (!first.arrived || !second.arrived) {
    say("Such a path leaves the beta that the weights reach: make it shorter.");
    return;
  }
  say("");
  const spread = first.w.at(-1).map((v, k) => Math.abs(v - second.w.at(-1)[k]));
  const order = d3.sort(d3.range(spread.length), (k) => -spread[k]).slice(0, 2);
  const show = (group, points, plane, names) => {
    const all = points.flat(), [p, q] = plane;
    const square = (k) => d3.extent(all, (v) => v[k]);
    const half = 0.55 * Math.max(...plane.map((k) => square(k)[1] - square(k)[0]), 1e-9);
    const middle = plane.map((k) => d3.mean(square(k)));
    const x = d3.scaleLinear([middle[0] - half, middle[0] + half], [EDGE.left, SIZE - EDGE.right]);
    const y = d3.scaleLinear([middle[1] - half, middle[1] + half], [SIZE - EDGE.bottom, EDGE.top]);
    const place = d3.select(group).attr("viewBox", `0 0 ${SIZE} ${SIZE}`);
    drawAxes(place, x, y, 5, names);
    draw(place, "path.way", points, (_, n) => `way way-${n}`).attr("d", d3.line((v) => x(v[p]), (v) => y(v[q])));
    draw(place, "circle", points.map((way) => way.at(-1)), (_, n) => `dot way-${n}`).attr("r", (_, n) => 8 - 3 * n)
      .attr("cx", (v) => x(v[p])).attr("cy", (v) => y(v[q]));
  };
  show("#plane", [first.beta, second.beta], state.plane, [GIVEN.outputs[i], GIVEN.outputs[j]]);
  show("#weights", [first.w, second.w], order, order.map((k) => model.weights[k]));
  const apart = norm(first.w.at(-1).map((v, k) => v - second.w.at(-1)[k]));
  const betas = norm(first.beta.at(-1).map((v, k) => v - second.beta.at(-1)[k]));
  put("apart", apart, digits(apart));
  put("together", betas, betas.toExponential(1));
  put("first", first.steered, vector(first.steered));
  put("second", second.steered, vector(second.steered));
}

// ---- All of it, once for each picture of the screen.

let latest = null, waiting = false;

function update() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    redraw();
  });
}

/** Say what is wrong, and show neither picture nor numbers; or show them again. */
function say(message) {
  byId("message").textContent = message;
  panes.classList.toggle("broken", Boolean(message));
}

/** Tell, and say, whether a condition of Q is broken on the way of the weights. */
function breaks(path) {
  const kept = path.map((w) => m.along(w, c));
  const lost = kept[0].findIndex(([, sign], k) => sign === "KEPT"
    ? kept.some((row) => row[k][2] * kept[0][k][2] <= 0)
    : sign === "ENDS_POSITIVE" && !(kept.at(-1)[k][2] > 0));
  if (lost < 0) return false;
  mark([kept[0][lost][0]]);
  say("On the way of this flow a condition of Q is broken (marked below): Q is not drawn.");
  return true;
}

/** Light up the conditions that are broken. */
function mark(broken) {
  document.querySelectorAll("[data-condition]").forEach((item) => {
    item.classList.toggle("bad", broken.includes(item.dataset.condition));
  });
}

function redraw() {
  for (const [name, x] of Object.entries(c)) put(`value-${name}`, x, String(+x.toPrecision(4)));
  if (!EXISTING) {
    drawRefutation();
    return;
  }
  for (const [name, x] of constants(c)) put(`constant-${name}`, x, digits(x));
  const broken = asked(c).filter(([, holds]) => !holds).map(([text]) => text);
  mark(broken);
  if (broken.length) {
    say("A condition of Q is broken (marked below): for this start nothing is proved, and nothing is drawn.");
    return;
  }
  if (panes.dataset.mode === "points") drawSeparation();
  else drawRegression();
}

function drawRegression() {
  const begin = m.F(m.start(c), c);
  if (outgrown(begin)) frame(begin);
  const [x, y] = data();
  const flow = follow(m, c, x, y), minimiser = minimise(m, c, x, y);
  latest = {x, y, flow, least: minimiser, begin};
  put("limit", flow.beta.at(-1), flow.arrived ? vector(flow.beta.at(-1)) : "the flow does not arrive");
  put("minimiser", minimiser.beta, minimiser.converged ? vector(minimiser.beta) : "no minimiser on the line");
  const both = flow.arrived && minimiser.converged;
  const apart = both ? norm(flow.beta.at(-1).map((b, k) => b - minimiser.beta[k])) : NaN;
  put("distance", apart, both ? apart.toExponential(2) : "none");
  const value = minimiser.beta ? m.Q(minimiser.beta, c) - m.Q(begin, c) : NaN;
  put("Q", value, digits(value));
  const slope = minimiser.beta && m.gradient(minimiser.beta, c);
  put("gradient", slope, vector(slope));
  put("line", [x, y], `${x.map(digits).join(", ")}; ${digits(y)}`);
  put("steps", flow.t.length - 1, `${flow.t.length - 1} steps, ${minimiser.steps} of Newton`);
  if (breaks(flow.w)) return;
  say("");
  drawPlane(latest);
  drawHandles();
  drawCurves(latest);
}

/** Show the window around the start, and the first data line. */
function begin() {
  frame(m.F(m.start(c), c));
  state.handles = firstHandles();
}

/** Set a constant, from its slider, to four digits, or its number; a slider of a positive one is logarithmic. */
function bind(box) {
  const {name, log} = box.dataset, slider = box.querySelector("[type=range]"), number = box.querySelector("[type=number]");
  const set = (x, from) => {
    const value = from === number ? x : +x.toPrecision(4);
    c[name] = value;
    if (from !== number) number.value = value;
    if (from !== slider) slider.value = log ? (value > 0 ? Math.log10(value) : slider.min) : value;
    slider.setAttribute("aria-valuetext", value);
  };
  slider.addEventListener("input", () => {
    const at = Number(slider.value);
    set(log ? (at <= Number(slider.min) ? 0 : 10 ** at) : at, slider);
    update();
  });
  number.addEventListener("input", () => {
    if (number.value === "" || !Number.isFinite(Number(number.value))) return;
    set(Number(number.value), number);
    update();
  });
  set(c[name]);
}

/** Let the flow run from its start, in four seconds; with reduced motion, show its end. */
function play() {
  const button = byId("play"), slider = byId("progress");
  if (state.playing || calm.matches) {
    if (state.playing) cancelAnimationFrame(state.playing);
    else shown(1);
    state.playing = null;
    button.textContent = "Play";
    return;
  }
  if (state.at >= 1) shown(0);
  let before = performance.now();
  button.textContent = "Pause";
  const tick = (now) => {
    shown(Math.min(1, state.at + (now - before) / 4000));
    before = now;
    state.playing = state.at < 1 ? requestAnimationFrame(tick) : null;
    if (!state.playing) button.textContent = "Play";
  };
  state.playing = requestAnimationFrame(tick);
  function shown(at) {
    state.at = at;
    slider.value = at;
    if (!EXISTING) redraw();
    else if (latest && !byId("message").textContent) latest.show();
  }
}

document.querySelectorAll("[data-name]").forEach(bind);
byId("play").addEventListener("click", play);
byId("progress").addEventListener("input", (event) => {
  state.at = Number(event.target.value);
  update();
});
byId("size")?.addEventListener("input", update);
byId("axes")?.addEventListener("change", (event) => {
  state.plane = event.target.value.split(",").map(Number);
  begin();
  update();
});
byId("mode")?.addEventListener("change", (event) => {
  panes.dataset.mode = event.target.value;
  begin();
  update();
});
document.querySelectorAll(".explore, .live").forEach((part) => (part.hidden = false));
if (EXISTING) begin();
redraw();

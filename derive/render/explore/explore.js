// The picture: it follows the sliders and the handles of the data. All that is drawn comes from
// the module of the derivation, and from flow.js; D3 draws axes and contours, and reads the pointer.

const GIVEN = JSON.parse(document.getElementById("given").textContent), EXISTING = !GIVEN.modes.includes("none");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const one = model_of({model, start, F, J, K, raise, g, along, ...(EXISTING && {Q, gradient, hessian, inside})});
const m = GIVEN.copies > 1 ? copies(one, GIVEN.copies) : one;
const byId = (id) => document.getElementById(id);
const digits = (x) => (Number.isFinite(x) ? (Object.is(x, -0) ? 0 : x).toPrecision(8) : "none");
const vector = (v) => `(${v.map((x) => digits(Math.abs(x) < 1e-14 * norm(v) ? 0 : x)).join(", ")})`;

// ---- What is set: constants, the data (a line through two handles, or labelled points), and how
// far the flow is shown.

const c = {...GIVEN.values};
const LABELS = [1, 1, -1, -1];
const POINTS = [[1.2, 1.8], [-0.6, 2.6], [1, -2.6], [-1.8, -2.2]];
const state = {handles: [], points: POINTS, at: 1, plane: [0, 1], walls: [], playing: null};
const panes = document.querySelector(".panes");
[panes.dataset.mode] = GIVEN.modes;

/** Show a number, a vector or a text: the value stands beside it, for whoever reads the page by a program. */
function put(id, value, text = value === null ? "none" : Array.isArray(value) ? vector(value) : digits(value)) {
  const place = byId(id);
  if (!place) return;
  place.textContent = text;
  place.dataset.value = JSON.stringify(value);
}

// ---- Pictures: windows with axes, in which lines and marks are drawn by kinds.

const SHAPES = {
  start: [d3.symbolX, 70], minimiser: [d3.symbolCircle, 190], end: [d3.symbolCircle, 60],
  l1: [d3.symbolDiamond, 60], l2: [d3.symbolSquare, 50],
  dot: [d3.symbolCircle, 38], "way-0": [d3.symbolCircle, 200], "way-1": [d3.symbolCircle, 78],
};

/** Return a picture of a size: its scales, and what sets its window and draws there. */
function picture(id, size = [460, 460], edge = {left: 40, right: 14, top: 24, bottom: 40}, ticks = 6) {
  const svg = d3.select(`#${id}`).attr("viewBox", `0 0 ${size[0]} ${size[1]}`);
  const x = d3.scaleLinear().range([edge.left, size[0] - edge.right]);
  const y = d3.scaleLinear().range([size[1] - edge.bottom, edge.top]);
  const [left, right] = x.range(), [bottom, top] = y.range();
  svg.append("clipPath").attr("id", `window-${id}`).append("path") // with half of a line at its edge
    .attr("d", `M${left - 1},${bottom + 1}V${top - 1}H${right + 1}V${bottom + 1}Z`);
  const inner = svg.append("g").attr("clip-path", `url(#window-${id})`), outer = svg.append("g");
  /** Return the elements of a kind, one for each entry; kinds lie above those that were drawn before. */
  const all = (place, kind, tag, data) => place.selectAll(`g.all-${kind}`).data([0]).join("g")
    .attr("class", `all-${kind}`).selectAll(tag).data(data).join(tag);
  const shown = {x, y, svg};
  shown.paths = (kind, data) => all(inner, kind, "path", data).attr("class", kind);
  /** Draw lines of a kind through their points. */
  shown.lines = (kind, lines) => shown.paths(kind, lines).attr("d", d3.line((p) => x(p[0]), (p) => y(p[1])));
  /** Draw marks in the window: {at, kind, says}. */
  shown.marks = (marks) => {
    const within = ({at}) => at && [x, y].every((scale, k) => scale.domain()[0] <= at[k] && at[k] <= scale.domain()[1]);
    const groups = all(outer, "mark", "g", marks.filter(within)).attr("class", ({kind}) => `mark ${kind}`)
      .attr("transform", ({at}) => `translate(${x(at[0])},${y(at[1])})`);
    groups.selectAll("path").data((d) => [d]).join("path").attr("d", ({kind}) => d3.symbol(...SHAPES[kind])());
    groups.selectAll("title").data((d) => [d]).join("title").text(({says}) => says);
  };
  /** Set the window and its axes, with lines where a coordinate is 0, and at ends that are walls. */
  let known = "";
  shown.frame = (spans, names = [], walls = []) => {
    if (known === String([spans, names, walls])) return;
    known = String([spans, names, walls]);
    x.domain(spans[0]);
    y.domain(spans[1]);
    for (const [kind, axis, scale] of [["bottom", d3.axisBottom, x], ["left", d3.axisLeft, y]]) {
      all(outer, kind, "g", [0]).attr("class", "axis").call(axis(scale).ticks(ticks))
        .attr("transform", kind === "left" ? `translate(${edge.left},0)` : `translate(0,${size[1] - edge.bottom})`);
    }
    const places = [[size[0] / 2, size[1] - 5], [edge.left - 6, 14]];
    all(outer, "name", "text", names).attr("class", "name").text((name) => name)
      .attr("x", (_, n) => places[n][0]).attr("y", (_, n) => places[n][1]);
    const across = (k, v) => spans[1 - k].map((u) => (k === 0 ? [v, u] : [u, v]));
    shown.lines("zero", [across(0, 0), across(1, 0)]);
    shown.lines("wall", walls.flatMap((ends, k) => spans[k].filter((_, n) => ends[n]).map((v) => across(k, v))));
  };
  return shown;
}

const plane = picture("plane"), {x: sx, y: sy} = plane;
const small = (id) => picture(id, [220, 130], {left: 46, right: 14, top: 8, bottom: 22}, 4);
const curves = Object.fromEntries([...document.querySelectorAll(".curves svg[id]")].map(({id}) => [id, small(id)]));
const inPlane = (beta) => beta && state.plane.map((k) => beta[k]);

/** Return a coordinate inside of the window, of which a wall may be the end. */
function within(scale, v) {
  const [a, b] = scale.domain(), edge = 1e-7 * (b - a);
  return Math.min(Math.max(v, a + edge), b - edge);
}

const WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

/** Let points of a picture be dragged, and moved by arrow keys, within its window; return what draws them. */
function movable({svg, x, y}, places, says, kind = () => "") {
  const place = (h) => [x(places()[h][0]), y(places()[h][1])];
  const move = (h, to) => {
    places()[h] = [x, y].map((scale, k) => within(scale, scale.invert(to[k])));
    update();
  };
  const group = svg.append("g").attr("class", "handles");
  const drag = d3.drag().container(svg.node()).subject((_, h) => ({x: place(h)[0], y: place(h)[1]}));
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

const drawHandles = movable(plane, () => state.handles, "handle of the data line");

// ---- The plane of two coordinates of beta: its window, and level sets there.

/** Set the window: round numbers around the start, as far as the domain goes; handles keep their places. */
function frame(beta) {
  const old = [sx.copy(), sy.copy()], most = Math.max(...inPlane(beta).map(Math.abs));
  const reach = 2 ** Math.max(1, Math.ceil(Math.log2(most)));
  const round = inPlane(beta).map((v) => [-1, 1].map((way) => (reach / 2) * Math.round((2 * v) / reach) + way * reach));
  const goesOn = (i, x) => m.inside(beta.map((b, j) => (i === j ? x : b)), c);
  const end = (i, far) => {
    if (goesOn(i, far)) return far;
    let [near, wall] = [beta[i], far];
    for (let n = 0; n < 60; n++) {
      const middle = (near + wall) / 2;
      if (goesOn(i, middle)) near = middle;
      else wall = middle;
    }
    return wall;
  };
  const domain = state.plane.map((i, k) => round[k].map((far) => end(i, far)));
  const broad = Math.max(...domain.map(([a, b]) => b - a));
  const spans = domain.map(([a, b], k) => (goesOn(state.plane[k], a + broad) ? [a, a + broad] : [a, b]));
  state.walls = spans.map(([a, b], k) => [a > round[k][0], b < round[k][1]]);
  plane.frame(spans, state.plane.map((k) => GIVEN.outputs[k]), state.walls);
  const moved = (p) => p.map((v, k) => [sx, sy][k].invert(old[k](v)));
  const share = (p) => [sx, sy].map((scale, k) => d3.interpolateNumber(...scale.domain())(p[k]));
  state.handles = state.handles.length ? state.handles.map(moved) : [[0.35, 0.92], [0.94, 0.42]].map(share);
}

const N = 57;

/** Return the coordinates of a grid, a cell wider than the window, closer at ends that are walls, and
 * one at 0: there Q may have a kink. */
function nodes(scale) {
  const [low, high] = state.walls[scale === sx ? 0 : 1] ?? [], [a, b] = scale.domain();
  const [from, to] = [low ? -Math.PI / 2 : 0, high ? Math.PI / 2 : 0];
  const graded = (t) => (Math.sin(from + t * (to - from)) - Math.sin(from)) / (Math.sin(to) - Math.sin(from));
  const share = (t) => (from < to && t > 0 && t < 1 ? graded(t) : t);
  const all = d3.range(N).map((n) => a + share((n - 1) / (N - 3)) * (b - a));
  const nearest = d3.minIndex(all, Math.abs);
  if (0 < nearest && nearest < N - 1) all[nearest] = 0;
  return all;
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
  const contour = d3.contours().size([N, N]);
  const [x, y] = [sx, sy].map((scale) => d3.scaleLinear(d3.range(N), nodes(scale)));
  const point = function (u, v) {
    this.stream.point(sx(x(u - 0.5)), sy(y(v - 0.5)));
  };
  const path = d3.geoPath(d3.geoTransform({point}));
  plane.paths("level", shown).attr("class", ({kind}) => `level ${kind}`)
    .attr("d", ({values, q}) => path(contour.contour(values, q)));
}

// ---- Regression on one equation: beta(t) runs to where a level set of Q touches the data line.

/** Return x and y of the line x . beta = y through the handles, |x| = 1. */
function data() {
  const [[a, b], [e, f]] = state.handles, [i, j] = state.plane;
  const length = Math.hypot(e - a, f - b) || 1;
  const x = Array(m.d).fill(0);
  [x[i], x[j]] = [(f - b) / length, -(e - a) / length];
  const y = x[i] * a + x[j] * b;
  return y < 0 ? [x.map((v) => -v), -y] : [x, y];
}

function drawRegression() {
  const begin = m.F(m.start(c), c);
  frame(begin);
  const [x, y] = data();
  const flow = follow(m, c, x, y), {beta, steps, converged} = minimise(m, c, x, y), limit = flow.beta.at(-1);
  const both = flow.arrived && converged, apart = both ? norm(limit.map((b, k) => b - beta[k])) : NaN;
  put("limit", limit, flow.arrived ? undefined : "the flow does not arrive");
  put("minimiser", beta, converged ? undefined : "no minimiser on the line");
  put("distance", apart, both ? apart.toExponential(2) : "none");
  put("Q", beta && m.Q(beta, c) - m.Q(begin, c));
  put("gradient", beta && m.gradient(beta, c));
  put("line", [x, y], `${x.map(digits).join(", ")}; ${digits(y)}`);
  put("steps", flow.t.length - 1, `${flow.t.length - 1} steps, ${steps} of Newton`);
  if (breaks(flow.w)) return;
  say("");
  const to = beta ?? limit, values = sheet(to), ray = (t) => m.Q(begin.map((b, k) => b + t * (to[k] - b)), c);
  const levels = [1 / 4, 1 / 2, 3 / 4, 1, 4 / 3, 5 / 3, 2]
    .map((t) => ({values, q: ray(t), kind: t === 1 ? "touching" : ""}));
  drawLevels(levels.filter(({q}) => Number.isFinite(q)));
  const [from, towards] = state.handles, on = (t) => from.map((v, k) => v + t * (towards[k] - v));
  plane.lines("data", [[on(-50), on(50)]]);
  const most = d3.maxIndex(x, Math.abs);
  const marks = [
    {kind: "start", at: inPlane(begin), says: "the start"},
    {kind: "l1", at: inPlane(x.map((_, i) => (i === most ? y / x[most] : 0))), says: "least l1 norm"},
    {kind: "l2", at: inPlane(x.map((v) => (v * y) / dot(x, x))), says: "least l2 norm"},
    {kind: "minimiser", at: inPlane(beta), says: "the minimiser of Q on the line"},
  ];
  const last = flow.w.length - 1, warp = curves["curve-g"] && flow.w.map((w, n) => [n / last, m.g(w, c)]);
  show = () => {
    const n = Math.round(state.at * last), here = flow.beta[n];
    plane.lines("flow", [flow.beta.slice(0, n + 1).map(inPlane)]);
    plane.marks([...marks, {kind: "end", at: inPlane(here), says: "beta(t)"}]);
    put("time", flow.t[n], `t = ${flow.t[n].toPrecision(3)}`);
    put("here", here);
    if (warp) drawCurve("g", [warp], [0, 1], [warp[n]]);
  };
  show();
  drawHandles();
  if (GIVEN.copies > 1) drawOutput(begin[0], beta ?? []);
}

// ---- Curves: of one output by itself, and of what is found along a path.

/** Draw functions as their points in a small picture, with walls, and marks on them; a window with
 * walls is as high as most of the points are. */
function drawCurve(name, lines, span, dots, walls = []) {
  const shown = curves[`curve-${name}`], ends = walls.some(Boolean) ? [0.02, 0.98] : [0, 1];
  const [least, most] = ends.map((q) => d3.quantile(lines.flat(), q, (p) => p[1]));
  shown.frame([span, least < most ? d3.nice(least, most, 4) : [least - 1, most + 1]], [], [walls]);
  shown.lines("curve", lines).attr("class", (_, n) => `curve way-${n}`);
  shown.marks(dots.map((at) => ({at, kind: "dot", says: at.map((v) => v.toPrecision(4)).join(", ")})));
}

/** Draw Q, its derivative, K and the weights over beta in the window. */
function drawOutput(b0, least) {
  const span = sx.domain(), [walls] = state.walls, zero = one.Q([b0], c);
  const of = {
    Q: (b) => one.Q([b], c) - zero,
    gradient: (b) => one.gradient([b], c)[0],
    K: (b) => 1 / one.hessian([b], c)[0][0],
  };
  for (const [name, f] of Object.entries(of)) {
    const along = (all) => all.map((b) => [b, f(b)]).filter((p) => Number.isFinite(p[1]));
    const steps = d3.range(1, 120).map((n) => d3.interpolateNumber(...span)(n / 120));
    drawCurve(name, [along(steps)], span, along(least), walls);
  }
  const near = span.map((end, n) => (walls[n] ? end + 0.01 * (b0 - end) : within(sx, end)));
  const [down, up] = near.map((end) => lift(one, c, [[b0], [end]]).w);
  const leaf = [...down.slice(1).reverse(), ...up];
  const over = (ws) => one.model.weights.map((_, k) => ws.map((w) => [one.F(w, c)[0], w[k]]));
  drawCurve("F", over(leaf), span, over([up[0]]).flat(), walls);
}

// ---- Separable data: beta(t) at margin 1 runs to where a level set of the horizon of Q touches.

/** The logarithm of 1/L at which the flow is left. */
const END = 100;
const cloud = GIVEN.modes.includes("points") && picture("points");
const drawPoints = cloud && movable(cloud, () => state.points, "point", (h) => (LABELS[h] < 0 ? "minus" : ""));

/** Return the ends of the line where <b, x> is a number, beyond the window of a picture around 0. */
const lineAt = ({x}, b, height) => {
  const size = dot(b, b), far = (3 * x.domain()[1]) / Math.sqrt(size);
  return [-far, far].map((t) => [(height * b[0]) / size - t * b[1], (height * b[1]) / size + t * b[0]]);
};

function drawSeparation() {
  cloud.frame([[-3, 3], [-3, 3]], ["x\u2081", "x\u2082"]);
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
  say("");
  const margins = flow.beta.map((beta) => Math.min(...rows.map((z) => dot(z, beta))));
  const first = margins.findIndex((u) => u > 0), size = 2 * Math.max(...b.map(Math.abs));
  if (state.walls.length || !(sx.domain()[1] > size / 2 && sx.domain()[1] < 2 * size)) {
    state.walls = [];
    plane.frame([[-size, size], [-size, size]], GIVEN.outputs.map((name) => `${name} / margin`));
  }
  plane.lines("data", rows.map((z) => lineAt(plane, z, 1)));
  const limit = {values: onGrid(phi, null, b), q: phi(b), kind: "horizon"}, largest = 1 / phi(b);
  const norms = {l1: (v) => Math.abs(v[0]) + Math.abs(v[1]), l2: norm};
  const marks = Object.entries(norms).map(([kind, f]) => ({kind, at: widest(f, rows), says: `largest ${kind} margin`}));
  marks.push({kind: "minimiser", at: b, says: "where a level set of the horizon touches"});
  const scaled = flow.beta.map((beta, n) => beta.map((v) => v / margins[n]));
  const ratios = flow.beta.map((beta, n) => [flow.t[n], margins[n] / phi(beta) / largest]).slice(first);
  const zero = m.gradient(flow.beta[0], c);
  put("rows", rows, rows.map(vector).join(", "));
  put("largest", largest);
  put("towards", b.map((v) => v * largest));
  show = () => {
    const n = first + Math.round(state.at * (last - first)), beta = flow.beta[n], here = scaled[n];
    drawLevels([limit, {values: sheet(here, margins[n]), q: m.Q(beta, c), kind: "touching"}]);
    plane.lines("flow", [scaled.slice(first, n + 1)]);
    plane.marks([...marks, {kind: "end", at: here, says: "beta(t)"}]);
    for (const [kind, v, heights] of [["limit", b, [0]], ["flow", here, [0]], ["strip", here, [1, -1]]]) {
      cloud.lines(kind, heights.map((height) => lineAt(cloud, v, height)));
    }
    drawCurve("margin", [ratios, [[0, 1], [flow.t[last], 1]]], [0, flow.t[last]], [ratios[n - first]]);
    const slope = m.gradient(beta, c).map((v, k) => v - zero[k]);
    const apart = norm(slope.map((v, k) => v - flow.steered[n][k]));
    put("time", flow.t[n], `log t = ${flow.t[n].toPrecision(4)}`);
    put("loss", flow.l[n]);
    put("margin", margins[n] / phi(beta));
    put("direction", beta.map((v) => v / phi(beta)));
    put("steered", flow.steered[n]);
    put("slope", slope);
    put("unequal", apart, apart.toExponential(2));
  };
  show();
}

// ---- Where there is no Q: two ways to one beta that end at different weights.

const weights = byId("weights") && picture("weights");

function drawRefutation() {
  const beta = m.F(m.start(c), c), [i, j] = state.plane;
  const size = Math.max(state.at, 0.01) * Number(byId("size").value);
  const corner = (a, b) => beta.map((v, k) => v + (k === i ? a * size : 0) + (k === j ? b * size : 0));
  const ways = [[corner(0, 0), corner(1, 0), corner(1, 1)], [corner(0, 0), corner(0, 1), corner(1, 1)]];
  const ends = ways.map((way) => lift(m, c, way));
  if (!ends.every((way) => way.arrived)) {
    say("Such a path leaves the beta that the weights reach: make it shorter.");
    return;
  }
  say("");
  const apart = (of) => ends[0][of].at(-1).map((v, k) => Math.abs(v - ends[1][of].at(-1)[k]));
  const spread = apart("w"), order = d3.sort(d3.range(spread.length), (k) => -spread[k]).slice(0, 2);
  const planes = [[plane, "beta", state.plane, GIVEN.outputs], [weights, "w", order, model.weights]];
  for (const [shown, of, axes, names] of planes) {
    const lines = ends.map((way) => way[of].map((v) => axes.map((k) => v[k])));
    const spans = axes.map((_, k) => d3.extent(lines.flat(), (p) => p[k]));
    const half = 0.55 * Math.max(...spans.map(([a, b]) => b - a), 1e-9);
    shown.frame(spans.map(([a, b]) => [(a + b) / 2 - half, (a + b) / 2 + half]), axes.map((k) => names[k]));
    shown.lines("way", lines).attr("class", (_, n) => `way way-${n}`);
    shown.marks(lines.map((line, n) => ({at: line.at(-1), kind: `way-${n}`, says: `end of way ${n + 1}`})));
  }
  put("apart", norm(spread));
  put("together", norm(apart("beta")), norm(apart("beta")).toExponential(1));
  put("first", ends[0].steered);
  put("second", ends[1].steered);
}

// ---- All of it, once for each picture of the screen.

let show = () => {}, waiting = false;

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
  if (!EXISTING) {
    drawRefutation();
    return;
  }
  for (const [name, x] of constants(c)) put(`constant-${name}`, x);
  const broken = conditions(c).filter(([, holds]) => !holds).map(([text]) => text);
  mark(broken);
  const lost = "A condition of Q is broken (marked below): for this start nothing is proved, and nothing is drawn.";
  if (broken.length) say(lost);
  else if (panes.dataset.mode === "points") drawSeparation();
  else drawRegression();
}

/** Set a constant, from its slider, to four digits, or its number; a slider of a positive one is logarithmic. */
function bind(box) {
  const {name, log} = box.dataset, [slider, number] = box.querySelectorAll("input");
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

/** Show the flow as far as a share of its way. */
function goTo(at) {
  state.at = at;
  byId("progress").value = at;
  if (!EXISTING) redraw();
  else if (!byId("message").textContent) show();
}

/** Let the flow run from its start, in four seconds; with reduced motion, show its end. */
function play() {
  const running = state.playing;
  cancelAnimationFrame(running);
  state.playing = null;
  if (!running && calm.matches) goTo(1);
  else if (!running) {
    if (state.at >= 1) goTo(0);
    let before = performance.now();
    const tick = (now) => {
      goTo(Math.min(1, state.at + (now - before) / 4000));
      before = now;
      state.playing = state.at < 1 ? requestAnimationFrame(tick) : null;
      byId("play").textContent = state.playing ? "Pause" : "Play";
    };
    state.playing = requestAnimationFrame(tick);
  }
  byId("play").textContent = state.playing ? "Pause" : "Play";
}

/** Let what else is set, where there is such a choice, be followed. */
function listen(id, event, set) {
  byId(id)?.addEventListener(event, ({target}) => {
    set(target.value);
    update();
  });
}

document.querySelectorAll("[data-name]").forEach(bind);
byId("play").addEventListener("click", play);
listen("progress", "input", (at) => (state.at = Number(at)));
listen("size", "input", () => {});
listen("axes", "change", (axes) => Object.assign(state, {plane: axes.split(",").map(Number), handles: []}));
listen("mode", "change", (mode) => Object.assign(state, {handles: []}, (panes.dataset.mode = mode)));
document.querySelectorAll(".explore, .live").forEach((part) => (part.hidden = false));
redraw();
const size = byId("size");
while (size && byId("message").textContent && Number(size.value) > Number(size.min)) {
  size.value /= 2;
  redraw();
}

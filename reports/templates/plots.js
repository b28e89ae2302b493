// Draws the plots of a page with uPlot: each one when it comes into view, in the colours of the page.
(() => {
  const style = () => getComputedStyle(document.documentElement);
  const COLOURS = 8; // that the style sheet has; those beyond have them again, and dashed
  const tone = (name) => style().getPropertyValue(typeof name === "number" ? `--c${name % COLOURS}` : `--${name}`).trim();
  const digits = (value) => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  const scaled = (value, units) => {
    const [unit, name] = units.find(([least]) => Math.abs(value) >= least) || units[units.length - 1];
    return `${digits(value / unit)} ${name}`.trim();
  };
  // As reports/plots.py writes them.
  const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
  const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const COUNTS = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const writers = {
    size: (value) => scaled(value, BYTES),
    time: (value) => value === 0 ? "0 s" : scaled(value, TIMES),
    count: (value) => value === 0 ? "0" : scaled(value, COUNTS),
    speed: (value) => `${digits(value)} MiB/s`,
    ratio: (value) => `${digits(value)} ×`,
    number: digits,
  };
  const writer = (axis) => axis.unit === "place"
    ? (value) => axis.names[value] || ""
    : writers[axis.unit];

  const scale = (axis, values) => {
    if (axis.unit === "place") { return { time: false, range: [-0.5, axis.names.length - 0.5] }; }
    if (!axis.log) { return { time: false, range: [Math.min(0, ...values), Math.max(...values) * 1.06 || 1] }; }
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = Math.max((high / low) ** 0.04, 1.05);
    return { time: false, distr: 3, log: axis.log, range: [low / room, high * room] };
  };

  const FONT = "12px system-ui, sans-serif";
  const widest = (texts) => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = FONT;
    return Math.max(0, ...texts.map((text) => context.measureText(text).width));
  };
  // Ticks of a logarithmic axis: powers of its base, and of decades 2 and 5, as far as there is room.
  const powers = (base, low, high, most) => {
    const [first, last] = [low, high].map((value) => Math.log(value) / Math.log(base));
    const ticks = (digits, step) => {
      const found = [];
      for (let power = Math.floor(first); power <= Math.ceil(last); power += 1) {
        if (power % step === 0) { digits.forEach((digit) => found.push(digit * base ** power)); }
      }
      return found.filter((value) => value >= low && value <= high);
    };
    const kinds = base === 10 ? [[[1, 2, 5], 1], [[1], 1], [[1], 2], [[1], 3]] : [[[1], 1], [[1], 2], [[1], 4], [[1], 5], [[1], 10]];
    const fitting = kinds.map(([digits, step]) => ticks(digits, step)).find((found) => found.length <= most);
    return fitting || ticks([1], 20);
  };
  const axisOf = (axis, across) => {
    const write = writer(axis);
    const made = { font: FONT, stroke: tone("quiet"), grid: { stroke: tone("line"), width: 1 }, ticks: { show: false } };
    made.values = (plot, splits) => splits.map((value) => value === null ? "" : write(value));
    if (axis.label) { made.label = axis.label; made.labelFont = FONT; made.labelSize = 18; }
    if (across) { made.size = 26; }
    if (axis.unit === "place" && axis.dates) {
      made.splits = () => [0, axis.names.length - 1];
      made.values = (plot, splits) => splits.map((place) => axis.names[place].slice(0, 10));
      made.grid.show = false;
    } else if (axis.unit === "place") {
      made.rotate = -50;
      made.size = Math.min(150, 14 + 0.77 * widest(axis.names));
      made.splits = () => axis.names.map((_, place) => place);
      made.space = 1;
    } else {
      if (axis.log) {
        made.splits = (plot, number, low, high) => {
          const room = (across ? plot.bbox.width : plot.bbox.height) / devicePixelRatio;
          return powers(axis.log, low, high, Math.max(2, room / (across ? 72 : 26)));
        };
        made.filter = (plot, splits) => splits;
      }
      if (!across) { made.size = (plot, values) => values ? 16 + Math.ceil(widest(values)) : 40; }
    }
    return made;
  };

  // What uPlot has no word for: ranges of points, marks and rules.
  const path = (plot, points) => {
    plot.ctx.beginPath();
    points.forEach(([x, y], at) => {
      plot.ctx[at ? "lineTo" : "moveTo"](plot.valToPos(x, "x", true), plot.valToPos(y, "y", true));
    });
  };
  const inside = (plot, work) => {
    const { left, top, width, height } = plot.bbox;
    plot.ctx.save();
    plot.ctx.beginPath();
    plot.ctx.rect(left, top, width, height);
    plot.ctx.clip();
    work(plot.ctx, devicePixelRatio);
    plot.ctx.restore();
  };
  const behind = (spec) => (plot) => inside(plot, (context, unit) => {
    const { top, left, width, height } = plot.bbox;
    (spec.marks || []).forEach(([x, name]) => {
      context.fillStyle = tone(name);
      context.fillRect(Math.round(plot.valToPos(x, "x", true)), top, Math.max(1, unit), height);
    });
    if (spec.rule) {
      context.fillStyle = tone("line-strong");
      context.fillRect(left, Math.round(plot.valToPos(spec.rule, "y", true)), width, Math.max(1, unit));
    }
  });
  const ranges = (spec) => (plot, number) => {
    const one = spec.series[number - 1];
    if (!one || !one.spread || !plot.series[number].show) { return; }
    inside(plot, (context, unit) => {
      context.strokeStyle = tone(one.tone);
      context.globalAlpha = plot.series[number].alpha ?? 1;
      context.lineWidth = 1.5 * unit;
      const shift = one.shift || 0;
      one.spread.forEach(([x, low, high]) => { path(plot, [[x + shift, low], [x + shift, high]]); context.stroke(); });
    });
  };

  const seriesOf = (one, write) => {
    const dots = one.style === "dots";
    const made = {
      label: one.name,
      stroke: tone(one.tone),
      width: dots ? 0 : one.wide ? 3 : one.style === "thin" ? 1 : 1.75,
      dash: one.dash || one.tone >= COLOURS ? [6, 4] : undefined,
      spanGaps: true,
      points: { show: one.style !== "thin" && one.style !== "steps", size: dots ? 7 : 5, fill: tone(one.tone) },
      value: (plot, value) => value === null || value === undefined ? "–" : write(value),
    };
    if (dots) { made.paths = () => null; }
    if (one.style === "steps") { made.paths = uPlot.paths.stepped({ align: 1 }); }
    return made;
  };

  const draw = (box) => {
    const spec = JSON.parse(box.nextElementSibling.textContent);
    spec.x.dates = spec.x.unit === "place" && spec.series.some((one) => one.style === "steps");
    const dodge = spec.x.unit === "place" && !spec.x.dates;
    spec.series.forEach((one, place) => { one.shift = dodge ? (place - (spec.series.length - 1) / 2) * 0.16 : 0; });
    const at = (one, x) => x + one.shift;
    const xs = [...new Set(spec.series.flatMap((one) => one.points.map(([x]) => at(one, x))))].sort((a, b) => a - b);
    const columns = spec.series.map((one) => {
      const known = new Map(one.points.map(([x, y]) => [at(one, x), y]));
      return xs.map((x) => known.has(x) ? known.get(x) : null);
    });
    const ys = [
      ...spec.series.flatMap((one) => [...one.points.map(([, y]) => y), ...(one.spread || []).flatMap(([, low, high]) => [low, high])]),
      ...(spec.rule ? [spec.rule] : []),
    ].filter((y) => !spec.y.log || y > 0);
    const write = writer(spec.y), across = writer(spec.x);
    // While nothing is pointed at, the legend has the last value of each line.
    const last = [xs.length - 1, ...columns.map((column) => column.findLastIndex((y) => y !== null))];
    const rest = (plot) => plot.setLegend({ idxs: last });
    box.replaceChildren();
    const plot = new uPlot({
      width: box.clientWidth,
      height: Number(box.dataset.height),
      scales: { x: scale(spec.x, xs), y: scale(spec.y, ys) },
      axes: [axisOf(spec.x, true), axisOf(spec.y, false)],
      series: [
        { label: spec.x.label || "at", value: (_, value) => value === null || value === undefined ? "–" : across(dodge ? Math.round(value) : value) },
        ...spec.series.map((one) => seriesOf(one, write)),
      ],
      focus: { alpha: 0.2 },
      cursor: { focus: { prox: 24 }, drag: { x: false, y: false }, y: false },
      legend: { live: true, markers: { width: 0, fill: (_, number) => number ? tone(spec.series[number - 1].tone) : "transparent" } },
      hooks: { ready: [rest], drawAxes: [behind(spec)], drawSeries: [ranges(spec)] },
    }, [xs, ...columns], box);
    box.uplot = plot;
    plot.over.addEventListener("mouseleave", () => setTimeout(() => rest(plot), 50));
  };

  const boxes = Array.from(document.querySelectorAll("div.plot"));
  const redraw = (box) => { if (box.uplot) { box.uplot.destroy(); draw(box); } };
  const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting && !entry.target.uplot) { draw(entry.target); }
  }), { rootMargin: "300px" });
  const sized = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const plot = target.uplot;
    if (plot && target.clientWidth && target.clientWidth !== plot.width) {
      plot.setSize({ width: target.clientWidth, height: plot.height });
    }
  }));
  boxes.forEach((box) => { seen.observe(box); sized.observe(box); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => boxes.forEach(redraw));
  addEventListener("beforeprint", () => boxes.forEach((box) => { if (!box.uplot && box.clientWidth) { draw(box); } }));
})();

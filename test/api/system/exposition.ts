// Reads Prometheus' text format, version 0.0.4, as strictly as a scraper: every metric once, its type before its
// samples, all of them together, no series twice, buckets that never fall.
export type Series = { name: string; labels: Record<string, string>; value: number };

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y;

/** Throws at the first line that is wrong. */
export function exposition(text: string): Series[] {
  const series: Series[] = [];
  const typed = new Map<string, string>();
  const seen = new Set<string>();
  let metric = '';
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (typed.has(name)) throw new Error(`${name} comes twice`);
      typed.set(name, rest);
      metric = name;
    }
    if (line === '' || line.startsWith('#')) continue;
    const one = readSample(line);
    const suffix = typed.get(metric) === 'histogram' ? /^_(bucket|sum|count)$/ : /^$/;
    if (!one.name.startsWith(metric) || !suffix.test(one.name.slice(metric.length))) {
      throw new Error(`${line} stands under ${metric}`);
    }
    const id = `${one.name} ${keyOf(one.labels)}`;
    if (seen.has(id)) throw new Error(`${line} comes twice`);
    seen.add(id);
    series.push(one);
  }
  expectCumulative(series);
  return series;
}

function readSample(line: string): Series {
  const [, name, inside = '', number = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inside.length) {
    const found = LABEL.exec(inside);
    if (found === null) throw new Error(`not labels: ${line}`);
    labels[found[1] ?? ''] = found[2] ?? '';
  }
  const value = number === '+Inf' ? Infinity : Number(number);
  if (Number.isNaN(value) && number !== 'NaN') throw new Error(`not a number: ${line}`);
  return { name, labels, value };
}

function keyOf(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)));
}

function expectCumulative(series: readonly Series[]): void {
  const last = new Map<string, number>();
  for (const { name, labels, value } of series) {
    if (!name.endsWith('_bucket')) continue;
    const { le: _, ...rest } = labels;
    const id = name + keyOf(rest);
    if (value < (last.get(id) ?? 0)) throw new Error(`the buckets of ${id} fall`);
    last.set(id, value);
  }
}

/**
 * Merges the metrics of several processes into one text for Prometheus: each metric once, with the series of all
 * processes. Metrics that worker processes stored are validated here, because they may come from another release.
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts';

type Labels = Record<string, string>;
export type Sample = { name: string; labels: Labels; value: number };
type Figure = { name: string; help: string; type: string; samples: Sample[] };

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const TYPES = ['counter', 'gauge', 'histogram', 'summary'];

/** Parses the JSON of prom-client. `process` becomes a label of every sample. Skips what it does not understand. */
export function parseFigures(given: unknown, process?: string): Figure[] {
  return Array.isArray(given) ? given.flatMap((figure: unknown) => parseFigure(figure, process)) : [];
}

function parseFigure(given: unknown, process: string | undefined): Figure[] {
  if (!isJsonObject(given)) return [];
  const { name, help, type, values } = given;
  if (typeof name !== 'string' || !NAME.test(name) || typeof help !== 'string') return [];
  if (typeof type !== 'string' || !TYPES.includes(type) || !Array.isArray(values)) return [];
  const own = process === undefined ? {} : { process };
  return [{ name, help, type, samples: values.flatMap((value) => parseSample(value, name, own)) }];
}

function parseSample(given: unknown, figure: string, own: Labels): Sample[] {
  if (!isJsonObject(given)) return [];
  const { metricName: name = figure, value, labels = {} } = given;
  if (typeof name !== 'string' || !NAME.test(name) || typeof value !== 'number') return [];
  const parsed = isJsonObject(labels) ? parseLabels(labels) : null;
  return parsed === null ? [] : [{ name, value, labels: { ...parsed, ...own } }];
}

function parseLabels(given: JsonObject): Labels | null {
  const labels: Labels = {};
  for (const [label, text] of Object.entries(given)) {
    if (!NAME.test(label) || (typeof text !== 'string' && typeof text !== 'number')) return null;
    labels[label] = String(text);
  }
  return labels;
}

/** Writes the Prometheus text format, version 0.0.4. */
export function writeFigures(figures: readonly Figure[]): string {
  const byName = new Map<string, { first: Figure; samples: Sample[] }>();
  for (const figure of figures) {
    const known = byName.get(figure.name);
    if (known === undefined) byName.set(figure.name, { first: figure, samples: [...figure.samples] });
    else if (known.first.type === figure.type) known.samples.push(...figure.samples);
  }
  const blocks = [...byName.values()].map(({ first: { name, help, type }, samples }) =>
    [`# HELP ${name} ${escape(help)}`, `# TYPE ${name} ${type}`, ...samples.map(writeSample)].join('\n'),
  );
  return `${blocks.join('\n\n')}\n`;
}

function writeSample({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text).replaceAll('"', '\\"')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${writeNumber(value)}`;
}

function writeNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

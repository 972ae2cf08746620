/**
 * Metrics of one process, from the JSON of prom-client. Those that worker processes stored are validated here, because
 * they may come from another release.
 */
import { isJsonObject, type JsonObject } from './json.ts';

export type Labels = Record<string, string>;
export type Sample = { name: string; labels: Labels; value: number };
export type Figure = { name: string; help: string; type: string; samples: Sample[] };

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

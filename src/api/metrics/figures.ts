/**
 * Merges the metrics of several processes into one text for Prometheus: each metric once, with the series of all
 * processes.
 */
import type { Figure, Sample } from '../../core/figures.ts';

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

/** One line for a job that ended. In a narrow terminal it leaves out what matters less. */
import stringWidth from 'string-width';
import type { EndedJob } from '../../db/read/jobs/ended-job.ts';
import { lookOf, type Ink } from '../terminal/ink.ts';
import { oneLine } from '../terminal/safe.ts';
import { count, formatDuration } from '../terminal/time.ts';
import { cut } from '../terminal/width.ts';
import { clockOf } from './format-line.ts';

/** `needed`: 0 always; of the others the lowest number goes first. */
type Part = { text: string; needed: 0 | 1 | 2 | 3; look: Parameters<Ink>[0] | null };

const GAP = '  ';

/** `columns` null: unlimited. The reason of a job that did not complete is a line of its own. */
export function jobLine(job: EndedJob, at: Date, ink: Ink, columns: number | null): string {
  const look = lookOf(job.status);
  const mark = job.status === 'completed' ? '✓' : '✗';
  const parts: Part[] = [
    { text: clockOf(at), needed: 0, look: 'dim' },
    { text: `${mark} ${job.status}`, needed: 0, look },
    { text: oneLine(job.worker), needed: 0, look: 'bold' },
    ...(job.title === null ? [] : [{ text: oneLine(job.title), needed: 1, look: null } as const]),
    ...(job.model === null ? [] : [{ text: oneLine(job.model), needed: 2, look: null } as const]),
    { text: count(job.steps, 'step'), needed: 0, look: 'dim' },
    { text: count(job.tokens, 'token'), needed: 3, look: 'dim' },
    { text: formatDuration(job.ms), needed: 0, look: 'dim' },
  ];
  const line = fit(parts, columns ?? Number.POSITIVE_INFINITY)
    .map(({ text, look }) => (look === null ? text : ink(look, text)))
    .join(GAP);
  return job.reason === null ? line : `${line}\n  ${ink(look, oneLine(job.reason))}`;
}

/** The fewest columns that a cut title is still worth. */
const TITLE_COLUMNS = 8;

function fit(parts: readonly Part[], columns: number): readonly Part[] {
  const excess = stringWidth(parts.map(({ text }) => text).join(GAP)) - columns;
  if (excess <= 0) return parts;
  const [least] = parts.filter(({ needed }) => needed > 0).sort((a, b) => a.needed - b.needed);
  if (least === undefined) return parts;
  const left = stringWidth(least.text) - excess;
  const isCut = least.needed === 1 && left >= TITLE_COLUMNS;
  if (isCut) return parts.map((part) => (part === least ? { ...part, text: cut(part.text, left) } : part));
  return fit(
    parts.filter((part) => part !== least),
    columns,
  );
}

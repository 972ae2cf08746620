/** What a stretch of a row is, and where the summary counts it. */
import { timelineWords } from '../../../words.ts';

export type StretchKind = keyof typeof timelineWords.stretches;

export type SpentOn = keyof typeof timelineWords.spentOn;

/** The job holds no slot of a worker process meanwhile. */
export function isWait(kind: StretchKind): kind is keyof typeof timelineWords.waits {
  return kind in timelineWords.waits;
}

/**
 * The lines of two texts, with what was removed and added. Lines that are the same in both are hidden if they are far
 * from a change, and shown by a button.
 */
import { useMemo, useState } from 'react';
import { Button } from '../ui/forms/button.tsx';
import { diffWords } from '../words.ts';
import css from './diff.module.css';
import { diffLines, stretchesOf, type DiffLine, type DiffStretch, type LinePart } from './diff-lines.ts';

/** `label`: what is compared, for a screen reader. `most`: maximum height in pixels. */
export type DiffProps = { before: string; after: string; label?: string; most?: number };

/** Lines that are shown at once. */
const PIECE = 1_000;

const SIGNS = { same: '', removed: '−', added: '+' } as const;

export function DiffView({ before, after, label = diffWords.label, most }: DiffProps) {
  const stretches = useMemo(() => stretchesOf(diffLines(before, after)), [before, after]);
  if (before === after) return <p className={css.none}>{diffWords.same}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className={css.diff} role="region" aria-label={label} tabIndex={0} style={{ maxHeight: most }}>
      {stretches.map((stretch, at) => (
        <Stretch key={`${before.length}-${after.length}-${at}`} stretch={stretch} />
      ))}
    </div>
  );
}

/** Changed lines of very large texts are shown piece by piece, so that the browser stays responsive. */
function Stretch({ stretch: { kind, lines } }: { stretch: DiffStretch }) {
  const [shown, setShown] = useState(kind === 'shown' ? PIECE : 0);
  const left = lines.length - shown;
  return (
    <>
      {lines.slice(0, shown).map((line) => (
        <Line key={line.kind === 'added' ? `+${line.after}` : `${line.before}`} line={line} />
      ))}
      {left > 0 && (
        <div className={css.hidden}>
          <Button size="small" variant="quiet" onClick={() => setShown(shown + PIECE)}>
            {kind === 'shown' ? diffWords.showMore(Math.min(left, PIECE)) : diffWords.showSame(Math.min(left, PIECE))}
          </Button>
        </div>
      )}
    </>
  );
}

function Line({ line }: { line: DiffLine }) {
  return (
    <div className={css.line} data-kind={line.kind}>
      <span className={css.number} aria-hidden>
        {line.kind === 'added' ? line.after : line.before}
      </span>
      <span className={css.sign} aria-hidden>
        {SIGNS[line.kind]}
      </span>
      {line.kind !== 'same' && <span className={css.spoken}>{diffWords.kinds[line.kind]}</span>}
      <span className={css.text}>
        {line.kind === 'same' ? line.text : <Parts parts={line.parts} kind={line.kind} />}
      </span>
    </div>
  );
}

function Parts({ parts, kind }: { parts: LinePart[]; kind: 'removed' | 'added' }) {
  const Mark = kind === 'removed' ? 'del' : 'ins';
  return parts.map(({ text, changed }, at) => (changed ? <Mark key={at}>{text}</Mark> : <span key={at}>{text}</span>));
}

/** The decision, shown in place of the form. It can be undone while its state is `undoable`. */
import { Check } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import type { Decision } from '../data/query/decisions.ts';
import { Button } from '../ui/forms/button.tsx';
import { Spinner } from '../ui/state/spinner.tsx';
import { answerWords } from '../words.ts';
import css from './answers.module.css';

export function Decided({ decision, onUndo }: { decision: Decision; onUndo?: () => void }) {
  return (
    <p className={css.decided}>
      {decision.state === 'sent' ? <Check aria-hidden="true" /> : <Spinner />}
      <span className={css.label}>{decision.label}</span>
      {decision.state === 'undoable' && onUndo !== undefined && <Undo onUndo={onUndo} />}
    </p>
  );
}

/** The button disappears after three seconds. If it had the focus, the focus moves to the card. */
function Undo({ onUndo }: { onUndo: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const shown = button.current;
    return () => {
      if (shown === document.activeElement) focusCard(shown);
    };
  }, []);
  return (
    <Button
      ref={button}
      size="small"
      variant="quiet"
      onClick={onUndo}
      aria-keyshortcuts="u"
      title={answerWords.undoByKey}
    >
      {answerWords.undo}
    </Button>
  );
}

export function focusCard(within: Element | null): void {
  within?.closest<HTMLElement>('[data-call]')?.focus({ preventScroll: true });
}

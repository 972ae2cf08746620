/** Shows the wait of a tool call and the form that ends it. */
import { useLayoutEffect, type ReactNode } from 'react';
import type { ToolCall } from 'nightshift/client';
import { takeBack, useDecision } from '../data/query/decisions.ts';
import { useSteady } from '../ui/state/steady.ts';
import { RelativeTime } from '../ui/text/time.tsx';
import { Sentence } from '../ui/text/sentence.tsx';
import { answerWords } from '../words.ts';
import { AnswerForm } from './answer-form.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { Decided, focusCard } from './decided.tsx';
import { OutcomeForm } from './outcome-form.tsx';
import css from './answers.module.css';
import { waitOf } from './use-decide.ts';

export function ToolWait({ call }: { call: ToolCall }) {
  switch (call.waits_for) {
    case 'approval':
      return (
        <Decidable key={call.waits_since} call={call}>
          <ApprovalForm call={call} />
        </Decidable>
      );
    case 'answer':
      return (
        <Decidable key={call.waits_since} call={call}>
          <AnswerForm call={call} />
        </Decidable>
      );
    case 'outcome':
      return (
        <Decidable key={call.waits_since} call={call}>
          <OutcomeForm call={call} />
        </Decidable>
      );
    case 'timer':
      return call.waits_until === null ? null : (
        <p className={css.later}>
          <Sentence text={answerWords.continues} gaps={{ when: <RelativeTime at={call.waits_until} /> }} />
        </p>
      );
    case 'workers':
    case null:
      return null;
  }
}

/** Hides the form after a decision. The form keeps its values in case the decision is undone or fails. */
function Decidable({ call, children }: { call: ToolCall; children: ReactNode }) {
  const form = useSteady<HTMLDivElement>();
  const decision = useDecision(waitOf(call));
  const isDecided = decision !== null;
  useLayoutEffect(() => {
    if (isDecided && form.current?.contains(document.activeElement) === true) focusCard(form.current);
  }, [isDecided, form]);
  return (
    <>
      <div role="status">
        {decision !== null && <Decided decision={decision} onUndo={() => takeBack(waitOf(call))} />}
      </div>
      <div ref={form} hidden={isDecided}>
        {children}
      </div>
    </>
  );
}

/** What a call waits for, with the means to answer it in place. */
import type { ToolCall } from 'nightshift/client';
import { RelativeTime } from '../ui/time.tsx';
import { AnswerForm } from './answer-form.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { OutcomeForm } from './outcome-form.tsx';
import css from './answers.module.css';

export function ToolWait({ call }: { call: ToolCall }) {
  switch (call.waits_for) {
    case 'approval':
      return <ApprovalForm call={call} />;
    case 'answer':
      return <AnswerForm call={call} />;
    case 'outcome':
      return <OutcomeForm call={call} />;
    case 'timer':
      return call.waits_until === null ? null : (
        <p className={css.later}>
          Goes on <RelativeTime at={call.waits_until} />
        </p>
      );
    case 'workers':
    case null:
      return null;
  }
}

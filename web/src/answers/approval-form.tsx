/** Form to approve a tool call, to approve it with edited arguments, or to deny it with a reason. */
import { Check, Pencil, X } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { ApproveCalls, Json, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextArea, TextField } from '../ui/forms/field.tsx';
import { Json as ShownJson } from '../ui/text/json.tsx';
import { RelativeTime } from '../ui/text/time.tsx';
import { Checkbox } from '../ui/forms/checkbox.tsx';
import css from './answers.module.css';
import { useDecide } from './use-decide.ts';

type Step = 'ask' | 'edit' | 'deny';

export function ApprovalForm({ call }: { call: ToolCall }) {
  const [step, setStep] = useState<Step>('ask');
  const [isRemembered, setRemembered] = useState(false);
  const [input, setInput] = useState(() => JSON.stringify(call.input, null, 2));
  const [reason, setReason] = useState('');
  const decide = useDecide(call, 'Could not send the decision');
  const give = (label: string, approval: Omit<ApproveCalls, 'tool_call_id' | 'all'>): void =>
    decide(isRemembered ? `${label} (remembered)` : label, () =>
      client.tools.approve(call.context_id, {
        ...approval,
        tool_call_id: call.id,
        ...(isRemembered ? { remember: true } : {}),
      }),
    );
  const edited = parseObject(input);
  const why = reason.trim();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (step === 'deny' && why !== '') give(`Denied: ${why}`, { decision: 'deny', reason: why });
    else if (step === 'deny') give('Denied', { decision: 'deny' });
    else if (step === 'ask') give('Approved', { decision: 'approve' });
    else if (edited !== null) give('Approved with edited arguments', { decision: 'approve', input: edited });
  };
  return (
    <form className={css.form} onSubmit={submit} aria-label={`Approval of ${call.name}`}>
      {step === 'ask' && <ShownJson value={call.input} label="Arguments" most={200} />}
      {step === 'edit' && (
        <TextArea
          label="Edited arguments"
          className={css.code}
          rows={Math.min(14, input.split('\n').length + 1)}
          spellCheck={false}
          autoFocus
          value={input}
          error={edited === null ? 'Enter a JSON object.' : null}
          onChange={({ target }) => setInput(target.value)}
        />
      )}
      {step === 'deny' && (
        <TextField
          label="Reason"
          placeholder="Sent to the model"
          autoFocus
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      )}
      <Checkbox
        label={
          step === 'deny'
            ? `Deny ${call.name} from now on in this context`
            : `Approve ${call.name} for 30 days in this context`
        }
        checked={isRemembered}
        onChange={setRemembered}
      />
      {call.waits_until !== null && (
        <p className={css.about}>
          Times out <RelativeTime at={call.waits_until} />
        </p>
      )}
      <div className={css.buttons}>
        {step === 'deny' ? (
          <Button type="submit" variant="danger">
            Deny
          </Button>
        ) : (
          <Button type="submit" variant="primary" disabled={step === 'edit' && edited === null}>
            <Check aria-hidden="true" /> {step === 'edit' ? 'Approve with edits' : 'Approve'}
          </Button>
        )}
        {step === 'ask' ? (
          <>
            <Button onClick={() => setStep('deny')}>
              <X aria-hidden="true" /> Deny …
            </Button>
            <Button variant="quiet" onClick={() => setStep('edit')}>
              <Pencil aria-hidden="true" /> Edit arguments
            </Button>
          </>
        ) : (
          <Button variant="quiet" onClick={() => setStep('ask')}>
            Back
          </Button>
        )}
      </div>
    </form>
  );
}

function parseObject(text: string): { [key: string]: Json } | null {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a call is run: as asked, with something else, or not at all and why. */
import { Check, Pencil, X } from 'lucide-react';
import { useState } from 'react';
import type { FormEvent } from 'react';
import type { ApproveCalls, Json, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/button.tsx';
import { TextArea, TextField } from '../ui/field.tsx';
import { Json as ShownJson } from '../ui/json.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { Checkbox } from '../ui/toggle.tsx';
import css from './answers.module.css';
import { useAnswer } from './use-answer.ts';

type Step = 'ask' | 'edit' | 'deny';

export function ApprovalForm({ call }: { call: ToolCall }) {
  const [step, setStep] = useState<Step>('ask');
  const [isRemembered, setRemembered] = useState(false);
  const [input, setInput] = useState(() => JSON.stringify(call.input, null, 2));
  const [reason, setReason] = useState('');
  const verdict = useAnswer(
    call,
    (given: Omit<ApproveCalls, 'tool_call_id' | 'all'>) =>
      client.tools.approve(call.context_id, {
        ...given,
        tool_call_id: call.id,
        ...(isRemembered ? { remember: true } : {}),
      }),
    'It was not decided on',
  );
  const edited = parseObject(input);
  const busy = verdict.isPending || verdict.isSuccess;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (step === 'deny')
      verdict.mutate({ decision: 'deny', ...(reason.trim() === '' ? {} : { reason: reason.trim() }) });
    else if (step === 'edit' && edited !== null) verdict.mutate({ decision: 'approve', input: edited });
    else if (step === 'ask') verdict.mutate({ decision: 'approve' });
  };
  return (
    <form className={css.form} onSubmit={submit} aria-label={`Approval of ${call.name}`}>
      {step === 'ask' && <ShownJson value={call.input} label="Arguments" most={200} />}
      {step === 'edit' && (
        <TextArea
          label="Run it with"
          className={css.code}
          rows={Math.min(14, input.split('\n').length + 1)}
          spellCheck={false}
          autoFocus
          value={input}
          error={edited === null ? 'This is no JSON object.' : null}
          onChange={({ target }) => setInput(target.value)}
        />
      )}
      {step === 'deny' && (
        <TextField
          label="Reason"
          placeholder="The model reads it"
          autoFocus
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      )}
      <Checkbox
        label={`Remember for ${call.name} in this context`}
        checked={isRemembered}
        onChange={setRemembered}
        disabled={busy}
      />
      {call.waits_until !== null && (
        <p className={css.about}>
          Decided without you <RelativeTime at={call.waits_until} />
        </p>
      )}
      <div className={css.buttons}>
        {step === 'deny' ? (
          <Button type="submit" variant="danger" busy={busy}>
            Deny
          </Button>
        ) : (
          <Button type="submit" variant="primary" busy={busy} disabled={step === 'edit' && edited === null}>
            {!busy && <Check aria-hidden="true" />} {step === 'edit' ? 'Approve with this' : 'Approve'}
          </Button>
        )}
        {step === 'ask' ? (
          <>
            <Button disabled={busy} onClick={() => setStep('deny')}>
              <X aria-hidden="true" /> Deny …
            </Button>
            <Button variant="quiet" disabled={busy} onClick={() => setStep('edit')}>
              <Pencil aria-hidden="true" /> Edit the arguments
            </Button>
          </>
        ) : (
          <Button variant="quiet" disabled={busy} onClick={() => setStep('ask')}>
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

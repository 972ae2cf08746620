/** Form to approve a tool call, to approve it with edited arguments, or to deny it with a reason. */
import { Check, Pencil, X } from 'lucide-react';
import { useRef, useState, type FormEvent, type KeyboardEvent } from 'react';
import type { ApproveCalls, Json, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextArea, TextField } from '../ui/forms/field.tsx';
import { Json as ShownJson } from '../ui/text/json.tsx';
import { KeyHint } from '../ui/text/key-hint.tsx';
import { RelativeTime } from '../ui/text/time.tsx';
import { Checkbox } from '../ui/forms/checkbox.tsx';
import { Sentence } from '../ui/text/sentence.tsx';
import { answerWords } from '../words.ts';
import css from './answers.module.css';
import { focusCard } from './decided.tsx';
import { useKeptText } from './kept-text.ts';
import { useDecide } from './use-decide.ts';

const words = answerWords.approval;

type Step = 'ask' | 'edit' | 'deny';

const KEYS = [
  { keys: 'a', does: words.keys.approve },
  { keys: 'd', does: words.keys.deny },
  { keys: 'e', does: words.keys.edit },
];

export function ApprovalForm({ call }: { call: ToolCall }) {
  const [step, setStep] = useState<Step>('ask');
  const [isRemembered, setRemembered] = useState(false);
  const [input, setInput] = useKeptText(call, 'input', JSON.stringify(call.input, null, 2));
  const [reason, setReason] = useKeptText(call, 'reason');
  const form = useRef<HTMLFormElement>(null);
  const decide = useDecide(call, words.failed);
  const give = (label: string, approval: Omit<ApproveCalls, 'tool_call_id' | 'all'>): void =>
    decide(isRemembered ? words.remembered(label) : label, () =>
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
    if (step === 'deny' && why !== '') give(words.deniedBecause(why), { decision: 'deny', reason: why });
    else if (step === 'deny') give(words.denied, { decision: 'deny' });
    else if (step === 'ask') give(words.approved, { decision: 'approve' });
    else if (edited !== null) give(words.approvedEdited, { decision: 'approve', input: edited });
  };
  const goBack = (): void => {
    setStep('ask');
    focusCard(form.current);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || step === 'ask') return;
    event.preventDefault();
    goBack();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape does what its button “Back” does
    <form ref={form} className={css.form} onSubmit={submit} onKeyDown={press} aria-label={words.form(call.name)}>
      {step === 'ask' && <ShownJson value={call.input} label={answerWords.arguments} most={200} />}
      {step === 'edit' && (
        <TextArea
          label={words.editedArguments}
          className={css.code}
          rows={Math.min(14, input.split('\n').length + 1)}
          spellCheck={false}
          autoFocus
          value={input}
          error={edited === null ? words.editedFault : null}
          onChange={({ target }) => setInput(target.value)}
        />
      )}
      {step === 'deny' && (
        <TextField
          label={words.reason}
          placeholder={answerWords.sentToModel}
          autoFocus
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      )}
      <Checkbox
        label={step === 'deny' ? words.rememberDenial(call.name) : words.rememberApproval(call.name)}
        checked={isRemembered}
        onChange={setRemembered}
      />
      {call.waits_until !== null && (
        <p className={css.about}>
          <Sentence text={answerWords.timesOut} gaps={{ when: <RelativeTime at={call.waits_until} /> }} />
        </p>
      )}
      <div className={css.buttons}>
        {step === 'deny' ? (
          <Button type="submit" variant="danger">
            {words.deny}
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            disabled={step === 'edit' && edited === null}
            {...(step === 'ask' ? { 'aria-keyshortcuts': 'a' } : {})}
          >
            <Check aria-hidden="true" /> {step === 'edit' ? words.approveEdited : words.approve}
          </Button>
        )}
        {step === 'ask' ? (
          <>
            <Button onClick={() => setStep('deny')} aria-keyshortcuts="d">
              <X aria-hidden="true" /> {words.denyWithReason}
            </Button>
            <Button variant="quiet" onClick={() => setStep('edit')} aria-keyshortcuts="e">
              <Pencil aria-hidden="true" /> {words.edit}
            </Button>
            <span className={css.keys} aria-hidden="true">
              {KEYS.map(({ keys, does }) => (
                <span key={keys}>
                  <KeyHint keys={keys} /> {does}
                </span>
              ))}
            </span>
          </>
        ) : (
          <Button variant="quiet" onClick={goBack}>
            {words.back}
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

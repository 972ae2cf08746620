/** Form to settle a call whose outcome is unknown because its worker process was lost. */
import { useState } from 'react';
import type { ResolveToolCall, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Json as ShownJson } from '../ui/text/json.tsx';
import css from './answers.module.css';
import { useDecide } from './use-decide.ts';

export function OutcomeForm({ call }: { call: ToolCall }) {
  const [result, setResult] = useState('');
  const decide = useDecide(call, 'Could not send the outcome');
  const settle = (label: string, given: ResolveToolCall): void =>
    decide(label, () => client.tools.resolve(call.context_id, call.id, given));
  const resultField = result.trim() === '' ? {} : { result: result.trim() };
  return (
    <div className={css.form} role="group" aria-label={`Outcome of ${call.name}`}>
      <p>
        The worker process was lost while this call was running. Check whether the call took effect, then choose the
        outcome.
      </p>
      <ShownJson value={call.run_input} label="Arguments" most={200} />
      <TextField
        label="Result, if it happened"
        placeholder="Sent to the model"
        value={result}
        onChange={({ target }) => setResult(target.value)}
      />
      <div className={css.buttons}>
        <Button variant="primary" onClick={() => settle('Marked as happened', { outcome: 'happened', ...resultField })}>
          It happened
        </Button>
        <Button onClick={() => settle('Did not happen: running it again', { outcome: 'did_not_happen' })}>
          It did not happen: run again
        </Button>
        <Button variant="quiet" onClick={() => settle('Reported to the model as unknown', { outcome: 'tell' })}>
          Report as unknown
        </Button>
      </div>
    </div>
  );
}

/** What became of a call that nobody saw end. */
import { useState } from 'react';
import type { ResolveToolCall, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Json as ShownJson } from '../ui/json.tsx';
import css from './answers.module.css';
import { useDecide } from './use-decide.ts';

export function OutcomeForm({ call }: { call: ToolCall }) {
  const [result, setResult] = useState('');
  const decide = useDecide(call, 'It was not settled');
  const settle = (words: string, given: ResolveToolCall): void =>
    decide(words, () => client.tools.resolve(call.context_id, call.id, given));
  const said = result.trim() === '' ? {} : { result: result.trim() };
  return (
    <div className={css.form} role="group" aria-label={`What became of ${call.name}`}>
      <p>
        It had begun when its process was lost, and may have done what it does. Look, then say what happened.
      </p>
      <ShownJson value={call.run_input} label="Run with" most={200} />
      <TextField
        label="Its result, if it happened"
        placeholder="The model reads it"
        value={result}
        onChange={({ target }) => setResult(target.value)}
      />
      <div className={css.buttons}>
        <Button variant="primary" onClick={() => settle('It happened', { outcome: 'happened', ...said })}>
          It happened
        </Button>
        <Button onClick={() => settle('It did not happen: it is run again', { outcome: 'did_not_happen' })}>
          It did not: run it again
        </Button>
        <Button
          variant="quiet"
          onClick={() => settle('The model is told that nobody knows', { outcome: 'tell' })}
        >
          Tell the model that nobody knows
        </Button>
      </div>
    </div>
  );
}

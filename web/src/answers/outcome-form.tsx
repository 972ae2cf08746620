/** Form to settle a call whose outcome is unknown because its worker process was lost. */
import type { ResolveToolCall, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Json as ShownJson } from '../ui/text/json.tsx';
import { answerWords } from '../words.ts';
import css from './answers.module.css';
import { useKeptText } from './kept-text.ts';
import { useDecide } from './use-decide.ts';

const words = answerWords.outcome;

export function OutcomeForm({ call }: { call: ToolCall }) {
  const [result, setResult] = useKeptText(call, 'result');
  const decide = useDecide(call, words.failed);
  const settle = (label: string, given: ResolveToolCall): void =>
    decide(label, () => client.tools.resolve(call.context_id, call.id, given));
  const resultField = result.trim() === '' ? {} : { result: result.trim() };
  return (
    <div className={css.form} role="group" aria-label={words.form(call.name)}>
      <p>{words.about}</p>
      <ShownJson value={call.run_input} label={answerWords.arguments} most={200} />
      <TextField
        label={words.result}
        placeholder={answerWords.sentToModel}
        value={result}
        onChange={({ target }) => setResult(target.value)}
      />
      <div className={css.buttons}>
        <Button variant="primary" onClick={() => settle(words.isHappened, { outcome: 'happened', ...resultField })}>
          {words.happened}
        </Button>
        <Button onClick={() => settle(words.isRunAgain, { outcome: 'did_not_happen' })}>{words.didNotHappen}</Button>
        <Button variant="quiet" onClick={() => settle(words.isUnknown, { outcome: 'tell' })}>
          {words.unknown}
        </Button>
      </div>
    </div>
  );
}

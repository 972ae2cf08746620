/** Form for the answer to a question (a choice or free text), or for the result of a tool that the client runs. */
import { useState, type FormEvent } from 'react';
import type { Json, ToolCall } from 'nightshift/client';
import { client } from '../data/client.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Json as ShownJson } from '../ui/text/json.tsx';
import { RelativeTime } from '../ui/text/time.tsx';
import { Checkbox } from '../ui/forms/checkbox.tsx';
import { Sentence } from '../ui/text/sentence.tsx';
import { answerWords } from '../words.ts';
import css from './answers.module.css';
import { useKeptText } from './kept-text.ts';
import { useDecide } from './use-decide.ts';

const { answer: answerForm, result: resultForm } = answerWords;

export function AnswerForm({ call }: { call: ToolCall }) {
  const [text, setText] = useKeptText(call, 'answer');
  const [isError, setError] = useState(false);
  const isQuestion = call.name === 'ask_user';
  const choices = choicesOf(call.input);
  const decide = useDecide(call, isQuestion ? answerForm.failed : resultForm.failed);
  const labelOf = (content: string): string => {
    if (isQuestion) return answerForm.given(content);
    return isError ? resultForm.givenError(content) : resultForm.given(content);
  };
  const answer = (content: string): void =>
    decide(labelOf(content), () =>
      client.tools.result(call.context_id, call.id, { content, ...(isError ? { is_error: true } : {}) }),
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') answer(text.trim());
  };
  return (
    <form className={css.form} onSubmit={submit} aria-label={isQuestion ? answerForm.form : resultForm.form(call.name)}>
      {!isQuestion && <ShownJson value={call.input} label={answerWords.arguments} most={200} />}
      <div className={css.buttons} role="group" aria-label={answerForm.choices} hidden={choices.length === 0}>
        {choices.map((choice) => (
          <Button key={choice} onClick={() => answer(choice)}>
            {choice}
          </Button>
        ))}
      </div>
      <div className={css.beside}>
        <TextField
          label={isQuestion ? answerForm.label : resultForm.label}
          hideLabel={isQuestion}
          placeholder={isQuestion ? (choices.length > 0 ? answerForm.otherAnswer : answerForm.placeholder) : undefined}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" variant="primary" disabled={text.trim() === ''}>
          {isQuestion ? answerForm.submit : resultForm.submit}
        </Button>
      </div>
      {!isQuestion && <Checkbox label={resultForm.isError} checked={isError} onChange={setError} />}
      {call.waits_until !== null && (
        <p className={css.about}>
          <Sentence text={answerWords.expires} gaps={{ when: <RelativeTime at={call.waits_until} /> }} />
        </p>
      )}
    </form>
  );
}

function choicesOf(input: Json): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [];
  const { choices } = input;
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
}

import { DescribedChoices } from '../../../ui/forms/described-choices.tsx';
import type { WebhookEvent } from './webhook-draft.ts';
import { webhooksWords } from '../../../words.ts';

const words = webhooksWords.form;

const CHOICES = (Object.keys(words.eventsAbout) as WebhookEvent[]).map((value) => ({
  value,
  about: words.eventsAbout[value],
}));

type Props = {
  chosen: readonly WebhookEvent[];
  error: string | null;
  onChange: (chosen: readonly WebhookEvent[]) => void;
};

export function EventsField({ chosen, error, onChange }: Props) {
  return <DescribedChoices label={words.events} choices={CHOICES} chosen={chosen} error={error} onChange={onChange} />;
}

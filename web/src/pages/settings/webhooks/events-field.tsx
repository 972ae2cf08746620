import { DescribedChoices } from '../../../ui/forms/described-choices.tsx';
import { EVENTS, type WebhookEvent } from './webhook-draft.ts';

const CHOICES = (Object.keys(EVENTS) as WebhookEvent[]).map((value) => ({ value, about: EVENTS[value] }));

type Props = {
  chosen: readonly WebhookEvent[];
  error: string | null;
  onChange: (chosen: readonly WebhookEvent[]) => void;
};

export function EventsField({ chosen, error, onChange }: Props) {
  return <DescribedChoices label="Events" choices={CHOICES} chosen={chosen} error={error} onChange={onChange} />;
}

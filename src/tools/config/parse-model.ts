/** Parses a model name in the config file. */
import { parseModelName, PROVIDERS } from '../../core/model/model.ts';
import { fault } from './member.ts';
import type { Member } from './member.ts';

export function model(member: Member): string | null {
  const { value } = member;
  return typeof value === 'string' && parseModelName(value) !== null
    ? value
    : fault(member, `must have the form provider/model, with one of the providers ${PROVIDERS.join(', ')}`);
}

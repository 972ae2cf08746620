/**
 * Tool calls out of their parts. A part belongs to the call of its index, unless it brings another id there (servers that
 * number every call 0); without an index to that of its id; without either it begins a call if it names one, and
 * otherwise goes on with the last.
 */
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { numberIn, objectIn, stringIn, without } from '../wire/json.ts';

type OpenCall = { index: number | null; id: string; name: string; arguments: string; rest: JsonObject };

export type CallList = { take(part: JsonObject): void; whole(): JsonObject[] };

export function createCallList(): CallList {
  const calls: OpenCall[] = [];

  function find(index: number | null, id: string, name: string): OpenCall | undefined {
    if (index !== null) {
      const there = calls.findLast((call) => call.index === index);
      return there !== undefined && id !== '' && there.id !== '' && there.id !== id ? undefined : there;
    }
    if (id !== '') return calls.find((call) => call.id === id);
    return name === '' ? calls.at(-1) : undefined;
  }

  function take(part: JsonObject): void {
    const index = numberIn(part, 'index');
    const id = stringIn(part, 'id');
    const said = objectIn(part, 'function');
    const name = stringIn(said, 'name');
    let call = find(index, id, name);
    if (call === undefined) {
      call = { index, id: '', name: '', arguments: '', rest: {} };
      calls.push(call);
    }
    call.id ||= id;
    call.name ||= name;
    call.arguments += argumentsOf(said['arguments']);
    call.rest = { ...call.rest, ...without(part, 'index', 'id', 'function', 'type') };
  }

  return {
    take,
    whole: () =>
      calls.map(({ id, name, arguments: text, rest }) => ({
        ...rest,
        ...(id === '' ? {} : { id }),
        type: 'function',
        function: { name, arguments: text },
      })),
  };
}

/** Text as a rule; some servers send the object itself. */
export function argumentsOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) ? JSON.stringify(value) : '';
}

/**
 * Assembles tool calls from their parts. A part belongs to the call with its index, unless it has another id (some
 * servers give every call index 0). Without an index it belongs to the call with its id. Without both it starts a new
 * call if it has a name, and otherwise continues the last one.
 */
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { numberIn, objectIn, stringIn, without } from '../wire/answer/json.ts';

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
    const calledFunction = objectIn(part, 'function');
    const name = stringIn(calledFunction, 'name');
    let call = find(index, id, name);
    if (call === undefined) {
      call = { index, id: '', name: '', arguments: '', rest: {} };
      calls.push(call);
    }
    call.id ||= id;
    call.name ||= name;
    call.arguments += argumentsOf(calledFunction['arguments']);
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

/** Normally text; some servers send the object itself. */
export function argumentsOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) ? JSON.stringify(value) : '';
}

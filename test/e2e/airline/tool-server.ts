// The airline's tool server: answers the tool calls of all conversations as recorded, in order, over HTTP.
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { closeServer, listenLocally } from '../../services/local-server.ts';
import type { Call, RecordedMessage } from './airline.ts';

type Turn = Call & { answer: string };

export type ToolServer = {
  url: string;
  /** Requests that are not in the recording. */
  faults: string[];
  /** From here on the tools of `contextId` answer as in `recorded`. */
  open(contextId: string, recorded: readonly RecordedMessage[]): void;
  /** The next call of `contextId` is skipped: returns the call, and its recorded result. */
  pass(contextId: string): Call & { answer: string };
  /** Calls of `contextId` that were not made yet. */
  left(contextId: string): number;
  close(): Promise<void>;
};

export async function openToolServer(): Promise<ToolServer> {
  const turns = new Map<string, Turn[]>();
  const given = new Map<string, string>();
  const faults: string[] = [];
  const answer = (asked: JsonObject): string | null => {
    const [contextId, callId, name] = [asked['context_id'], asked['tool_call_id'], asked['name']].map(text);
    const { input } = asked;
    if (contextId === undefined || callId === undefined) return null;
    const again = given.get(callId);
    if (again !== undefined) return again;
    const queue = turns.get(contextId) ?? [];
    const place = queue.findIndex((turn) => turn.name === name && isDeepStrictEqual(turn.input, input));
    const [turn] = place === -1 ? [] : queue.splice(place, 1);
    if (turn === undefined || place !== 0) {
      faults.push(`${name} ${JSON.stringify(input)} is not the call whose turn it is`);
      return null;
    }
    given.set(callId, turn.answer);
    return turn.answer;
  };
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      const asked: Json = JSON.parse(body) as Json;
      const recorded = isJsonObject(asked) ? answer(asked) : null;
      response.writeHead(recorded === null ? 409 : 200).end(recorded ?? 'not recorded');
    });
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    open: (contextId, recorded) => void turns.set(contextId, turnsOf(recorded)),
    pass(contextId) {
      const turn = turns.get(contextId)?.shift();
      if (turn === undefined) throw new Error('no call is left');
      return turn;
    },
    left: (contextId) => turns.get(contextId)?.length ?? 0,
    close: () => closeServer(server),
  };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Calls with the results that follow them, in order. */
function turnsOf(recorded: readonly RecordedMessage[]): Turn[] {
  const calls = recorded.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const answers = recorded.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
  return answers.flatMap((answer, index) => {
    const call = calls[index];
    return call === undefined ? [] : [{ ...call, answer }];
  });
}

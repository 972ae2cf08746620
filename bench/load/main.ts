/** The load generator: a process that sends requests over keep-alive connections. */
import { setTimeout as pause } from 'node:timers/promises';
import { answerQuestions } from '../talk.ts';
import { exchange } from './exchange.ts';
import { run } from './run.ts';
import { listen, takeDeliveries } from './streams.ts';
import type { Answer, LoadProtocol, Request, Volley } from './protocol.ts';

async function send(url: string, request: Request): Promise<Answer> {
  const answer = await exchange(url, request);
  if (answer.status < 400) return answer;
  throw new Error(`${request.method} ${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function sendAll({ url, requests, atOnce, gapMs }: Volley): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const request = requests[index];
      if (request !== undefined) answers[index] = await send(url, request);
      if (gapMs > 0) await pause(gapMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return answers;
}

answerQuestions<LoadProtocol>({ send: sendAll, run, listen, takeDeliveries });

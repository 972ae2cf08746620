/** The built-in tools. Each is off unless a role or a config names it. */
import { ASK_USER } from '../../core/conversation/question.ts';
import { SLEEP_UNTIL } from '../../core/run/sleep.ts';
import { SPAWN_WORKER, WAIT_FOR_WORKERS } from '../../core/workers/worker-asks.ts';
import type { Tool } from '../registry/tool.ts';
import { askUser } from './ask-user.ts';
import { RUN_COMMAND, runCommand, type CommandParts } from './command/run-command.ts';
import { FILE_TOOLS, fileTools, type FileParts } from './files/files.ts';
import { HTTP_FETCH, httpFetch, type HttpFetchParts } from './http/http-fetch.ts';
import { MEMORY_TOOLS, memoryTools, type Memories } from './memory.ts';
import { PEER_TOOLS, peerTools, type Peers } from './peers.ts';
import { sleepUntil } from './sleep-until.ts';
import { workerTools } from './workers.ts';

/** Dependencies of some tools. A tool without its dependency is not offered. */
export type BuiltInParts = {
  http?: HttpFetchParts;
  files?: FileParts;
  command?: CommandParts;
  memories?: Memories;
  peers?: Peers;
};

export function builtInTools({ http, files, command, memories, peers }: BuiltInParts = {}): Tool[] {
  return [
    askUser(),
    sleepUntil(),
    ...workerTools(),
    ...(http === undefined ? [] : [httpFetch(http)]),
    ...(files === undefined ? [] : fileTools(files)),
    ...(command === undefined ? [] : [runCommand(command)]),
    ...(memories === undefined ? [] : memoryTools(memories)),
    ...(peers === undefined ? [] : peerTools(peers)),
  ];
}

/** Reserved names: no other tool may use them, even if the built-in tool is not offered. */
export const BUILT_IN_NAMES: readonly string[] = [
  ASK_USER,
  SLEEP_UNTIL,
  HTTP_FETCH,
  ...FILE_TOOLS,
  RUN_COMMAND,
  ...MEMORY_TOOLS,
  SPAWN_WORKER,
  WAIT_FOR_WORKERS,
  ...PEER_TOOLS,
];

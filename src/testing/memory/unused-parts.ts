/** What built-in tools that reach outside need to describe themselves. In memory none of them runs: stand-ins do. */
import { LIMITS } from '../../core/limits.ts';
import { RUN_COMMAND_DEFAULTS } from '../../tools/built-in/command/limits.ts';
import { FILE_LIMITS } from '../../tools/built-in/files/limits.ts';
import { HTTP_FETCH_DEFAULTS } from '../../tools/built-in/http/limits.ts';
import type { BuiltInParts } from '../../tools/built-in/tools.ts';
import type { SetLimits } from '../../tools/config/limits.ts';

export function unusedParts({
  httpFetch = HTTP_FETCH_DEFAULTS,
  files = FILE_LIMITS,
  runCommand = RUN_COMMAND_DEFAULTS,
  toolResult: resultChars = LIMITS.toolResult,
}: SetLimits): BuiltInParts {
  const workspaces = { prepare: refuse, open: refuse };
  return {
    http: { limits: httpFetch, resultChars },
    files: { workspaces, limits: files, resultChars },
    command: { workspaces, limits: runCommand, files, resultChars, path: '', docker: {} },
    peers: { send: refuse, list: refuse, stop: refuse },
  };
}

async function refuse(): Promise<never> {
  throw new Error('A tool that reaches outside ran in memory.');
}

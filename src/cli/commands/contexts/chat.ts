/** `chat`: a conversation with a worker at the terminal, or line by line through a pipe. */
import type { Command } from 'commander';
import { runChat } from '../../chat/run-chat.ts';
import { SLASH_HELP } from '../../chat/slash.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { existingContext, newWorker, targetOptions, type TargetOptions } from '../../target.ts';
import { wholeNumber } from '../../values.ts';

type Options = Omit<Common, 'json'> & TargetOptions & { history: number; thinking?: true; quiet?: true };

export function chatCommand(cli: Cli): Command {
  const command = apiCommand(
    'chat',
    'chat with a worker',
    [
      'nightshift chat --role support',
      'nightshift chat --worker ada              # continues its conversation',
      "printf 'say: hello\\nsay: bye\\n' | nightshift chat",
    ],
    { json: false },
  );
  return targetOptions(command)
    .option('--history <n>', 'number of earlier messages to show', wholeNumber(0, 200), 6)
    .option('--thinking', 'print the model’s thinking on stderr')
    .option('-q, --quiet', 'print no progress on stderr')
    .addHelpText('after', `\n${SLASH_HELP}`)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const contextId = await existingContext(client, options);
        if (contextId !== null) return runChat(cli, client, contextId, options);
        const { context_id } = await client.workers.create(newWorker({ name: 'chat', ...options }));
        return runChat(cli, client, context_id, { ...options, history: 0 });
      }),
    );
}

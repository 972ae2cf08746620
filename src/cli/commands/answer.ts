/** `answer`: of a question, or in place of a client's own tool. */
import type { Command } from 'commander';
import { findItem } from '../asking/find-item.ts';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { readTask } from '../read-task.ts';

type Options = Common & { file?: string; error?: true };

export function answerCommand(cli: Cli): Command {
  return apiCommand('answer', 'answers a question, or gives the result of a client’s own tool', [
    'nightshift answer 0199… "The blue one."',
    'nightshift answer 0199… --file report.md',
    'nightshift answer 0199… "No such account." --error',
  ])
    .argument('<call>', 'the id of the call: nightshift inbox')
    .argument('[text]', 'the answer; - reads it from standard input')
    .option('-f, --file <file>', 'reads the answer from a file')
    .option('--error', 'the model is told that the call failed')
    .action((callId: string, text: string | undefined, options: Options) =>
      carryOut(cli, options, async (client) => {
        const content = await readTask(text, options.file);
        const { context_id } = await findItem(client, callId, 'input');
        const result = { content, ...(options.error === undefined ? {} : { is_error: options.error }) };
        const accepted = await client.tools.result(context_id, callId, result);
        if (options.json === true) cli.screen.json(accepted);
        else cli.screen.out(`Answered; its job ${accepted.job_id} goes on.\n`);
      }),
    );
}

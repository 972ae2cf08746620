/** `answer`: answers a question, or posts the result of a client tool. */
import type { Command } from 'commander';
import { findItem } from '../../asking/find-item.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { readTask } from '../../read-task.ts';
import { given } from '../../values.ts';

type Options = Common & { file?: string; error?: true };

export function answerCommand(cli: Cli): Command {
  return apiCommand('answer', 'answer a question, or post the result of a client tool', [
    'nightshift answer 0199… "The blue one."',
    'nightshift answer 0199… --file report.md',
    'nightshift answer 0199… "No such account." --error',
  ])
    .argument('<call>', 'id of the tool call, from nightshift inbox')
    .argument('[text]', 'the answer; - reads standard input')
    .option('-f, --file <file>', 'read the answer from a file')
    .option('--error', 'report the answer to the model as a failed call')
    .action((named: string, text: string | undefined, options: Options) =>
      carryOut(cli, options, async (client) => {
        const content = await readTask(cli.input, { task: text, file: options.file });
        const { context_id, tool_call_id } = await findItem(client, named, 'input');
        const result = { content, ...given({ is_error: options.error }) };
        const accepted = await client.tools.result(context_id, tool_call_id, result);
        print(cli, options, accepted, `Answered. Job ${accepted.job_id} continues.\n`);
      }),
    );
}

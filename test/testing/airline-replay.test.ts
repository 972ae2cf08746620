// The recorded conversations of an airline's support replay equal with unchanged tools. What has changed is shown.
import { describe, expect, test } from 'vitest';
import { replay } from '../../src/testing/index.ts';
import { ABSENT, readConversations, readPolicy, readTools } from '../e2e/airline/airline.ts';
import { entriesOf, exportOf } from './recordings.ts';

describe.skipIf(ABSENT !== null)(`the airline's conversations${ABSENT === null ? '' : ` (skipped: ${ABSENT})`}`, () => {
  const all = ABSENT === null ? readConversations() : [];
  const names = ABSENT === null ? readTools().map(({ name }) => name) : [];
  const policy = ABSENT === null ? readPolicy() : '';
  let ran = 0;
  const tools = (change: (tool: ReturnType<typeof readTools>[number]) => object = () => ({})) =>
    readTools().map((tool) => ({
      ...tool,
      effect: tool.name.startsWith('get_') ? 'none' : 'once',
      execute: () => {
        ran += 1;
        return 'It ran.';
      },
      ...change(tool),
    }));
  const recordings = all.map((conversation) => ({
    task: conversation.task,
    recording: exportOf(entriesOf(conversation), { tools: names, system_prompt: policy, model: 'openai/gpt-4o' }),
  }));

  test('there are thirty', () => {
    expect(recordings).toHaveLength(30);
  });

  test('all are equal, and no tool runs', async () => {
    const config = { tools: tools() };
    for (const { recording, task } of recordings) {
      const { equal, diff } = await replay(JSON.stringify(recording), config);
      expect({ task, diff }).toEqual({ task, diff: '' });
      expect(equal).toBe(true);
    }
    expect(ran).toBe(0);
  });

  test('a changed prompt is shown, line by line', async () => {
    const changed = policy.replace('30 kilograms', '30 kg').replace(/^- You should/m, '- You must');
    const sentence = `${policy.split('\n')[0]}`;
    const prompt = changed.replace(sentence, `${sentence} Be brief.`);
    const [first] = recordings;
    const {
      equal,
      diff,
      prompt: lines,
      conversation,
    } = await replay(
      first?.recording ?? {},
      { tools: tools() },
      {
        worker: { system_prompt: prompt },
      },
    );
    expect(equal).toBe(false);
    expect(conversation).toEqual([]);
    expect(lines).toContain(`-   ${sentence}`);
    expect(lines).toContain(`+   ${sentence} Be brief.`);
    expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(
      lines.filter((line) => line.startsWith('+')).length,
    );
    expect(diff.startsWith('prompt:\n')).toBe(true);
    expect(lines.length).toBeLessThan(30);
  });

  test('a tool whose schema refuses a recorded input, one that is gone, and one that runs', async () => {
    const used = recordings.find(({ recording }) => JSON.stringify(recording).includes('"get_user_details"'));
    const strict = tools(({ name }) =>
      name === 'get_user_details'
        ? { input_schema: { type: 'object', properties: { user_id: { type: 'integer' } }, required: ['user_id'] } }
        : {},
    );
    const refused = await replay(used?.recording ?? {}, { tools: strict }, { against: { tools: tools() } });
    expect(refused.prompt.join('\n')).toMatch(/^-\s+"type": "string"/m);
    expect(refused.conversation.join('\n')).toMatch(
      /^\+ ← error: The tool get_user_details was not executed.*\n\+ .*user_id must be integer/m,
    );

    const gone = { tools: tools().filter(({ name }) => name !== 'get_user_details') };
    const without = await replay(used?.recording ?? {}, gone, { against: { tools: tools() } });
    expect(without.prompt.join('\n')).toMatch(/^- tool get_user_details:/m);
    expect(without.conversation.join('\n')).toContain('+ ← error: There is no tool named get_user_details.');

    ran = 0;
    const named = await replay(used?.recording ?? {}, { tools: tools() }, { run: ['get_user_details'] });
    expect(ran).toBeGreaterThan(0);
    expect(named.conversation.join('\n')).toContain('+ ← It ran.');
  });
});

/** The directives that the model plays next for a prompt, or a default text. Pure. */
import type { ModelRequest } from '../../core/model/model.ts';
import { LANGUAGE } from './language.ts';
import { readScene, resultText, type Scene } from './scene.ts';
import { readScript, type Directive } from './script.ts';

const HINT = 'I am the simulated model: no key, no network. Say "help:" to learn how to script me.';

export function planStep(request: ModelRequest): Directive[] {
  const scene = readScene(request.messages);
  const script = readScript(scene.input);
  switch (script.kind) {
    case 'plain':
      return [say(`[simulated] You said: ${script.text}\n\n${HINT}`)];
    case 'mistake':
      return [say(`[simulated] I do not understand this line: ${script.line}\n\n${LANGUAGE}`)];
    case 'steps':
      return script.steps[scene.step] ?? [say(afterScript(scene))];
  }
}

function afterScript({ results }: Scene): string {
  if (results.length === 0) return '[simulated] My script is over.';
  const resultLines = results.map((result) => `${result.is_error ? 'failed: ' : ''}${shortened(resultText(result))}`);
  return `[simulated] My script is over. The tools answered:\n${resultLines.join('\n')}`;
}

function shortened(text: string): string {
  return text.length <= 2_000 ? text : `${text.slice(0, 2_000)} …`;
}

function say(text: string): Directive {
  return { kind: 'say', text };
}

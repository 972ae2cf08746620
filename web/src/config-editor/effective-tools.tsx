/** Every tool that the saved settings name: whether the model gets it, and what decides about approval of its calls. */
import type { EffectiveTool } from 'nightshift/client';
import { Badge, type Tone } from '../ui/text/badge.tsx';
import { configWords } from '../words.ts';
import css from './config-editor.module.css';
import { sourceText, type EffectiveOf } from './inherited.ts';

const words = configWords.offered;

const TONES: Readonly<Record<EffectiveTool['approval'], Tone>> = {
  never: 'neutral',
  always: 'accent',
  deny: 'red',
  by_call: 'accent',
};

export function EffectiveTools({ effective: { settings, role } }: { effective: EffectiveOf }) {
  const { offered_tools: tools, unknown_servers: servers } = settings;
  return (
    <section className={css.list} aria-label={words.title}>
      <h3 className={css.label}>{words.title}</h3>
      {tools.length === 0 && servers.length === 0 && <p className={css.hint}>{words.none}</p>}
      {tools.length > 0 && (
        <ul className={css.tools}>
          {tools.map((tool) => (
            <li key={tool.name} data-offered={tool.state === 'offered'}>
              <code>{tool.name}</code>
              {tool.state === 'offered' ? (
                <Badge tone={TONES[tool.approval]}>{words.approvals[tool.approval]}</Badge>
              ) : (
                <Badge tone={tool.state === 'plan_mode' ? 'neutral' : 'amber'}>{words.states[tool.state]}</Badge>
              )}
              <span className={css.hint}>{about(tool, role)}</span>
            </li>
          ))}
        </ul>
      )}
      {servers.length > 0 && <p className={css.hint}>{words.unknownServers(servers)}</p>}
    </section>
  );
}

/** Where the tool comes from, and the rule that decides. */
function about({ field, source, rule }: EffectiveTool, role: string | null): string {
  const from = field === 'tools' ? sourceText(source, role) : words.byField(field, sourceText(source, role));
  return rule === null ? from : words.withRule(from, rule.tool, sourceText(rule.source, role));
}

/** What applies beside the own values of a field: rules of the role after the own ones, and the lowest of all limits. */
import { configWords } from '../words.ts';
import css from './config-editor.module.css';
import { sourceText, type EffectiveOf } from './inherited.ts';

/** Rules of the role, which are tried after those of the worker. Nothing if a role is edited, or has none. */
export function RulesOfRole({ effective: { settings, role } }: { effective: EffectiveOf }) {
  const rules = settings.approval.filter(({ source }) => source === 'role');
  if (role === null || rules.length === 0) return null;
  return (
    <section className={css.list} aria-label={configWords.rules.ofRole(role)}>
      <h3 className={css.label}>{configWords.rules.ofRole(role)}</h3>
      <ul className={css.names}>
        {rules.map(({ tool, decision }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a rule is identified by its position
          <li key={at}>
            <code>{tool}</code>: {configWords.rules.decisions[decision]}
          </li>
        ))}
      </ul>
    </section>
  );
}

const LIMITS = ['depth', 'children', 'workers'] as const;

/** The limits that apply now: the lowest of the installation, the role and the own value. */
export function AppliedLimits({ effective: { settings, role } }: { effective: EffectiveOf }) {
  return (
    <section className={css.list} aria-label={configWords.limits.title}>
      <h3 className={css.label}>{configWords.limits.title}</h3>
      <dl className={css.limits}>
        {LIMITS.map((name) => {
          const { value, source } = settings.limits[name];
          return (
            <div key={name}>
              <dt>{configWords.limits.names[name]}</dt>
              <dd>
                {value} <span className={css.hint}>{sourceText(source, role)}</span>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** A field without an own value: what applies, greyed, with where it comes from and a button to set an own value. */
import { useId } from 'react';
import { classes } from '../ui/classes.ts';
import { Button } from '../ui/forms/button.tsx';
import { actionOn, configWords } from '../words.ts';
import css from './config-editor.module.css';
import type { ConfigDraft } from './draft.ts';
import { FIELDS } from './fields.ts';
import { isNothing, type Applied, type Replaceable } from './inherited.ts';

type Props = {
  member: Replaceable;
  applied: Applied<Replaceable>;
  /** Null: it cannot be changed here. */
  onOverride: (() => void) | null;
};

export function InheritedField({ member, applied: { written, from }, onOverride }: Props) {
  const id = useId();
  const { label } = FIELDS[member];
  const unit = unitOf(member);
  return (
    <div className={css.inherited} role="group" aria-labelledby={id}>
      <span id={id} className={css.label}>
        {label}
      </span>
      <Value member={member} written={written} />
      {unit !== undefined && <p className={css.hint}>{unit}</p>}
      <p className={css.source}>
        <span>{from}</span>
        {onOverride !== null && (
          <Button size="small" variant="quiet" aria-label={actionOn(configWords.override, label)} onClick={onOverride}>
            {configWords.override}
          </Button>
        )}
      </p>
    </div>
  );
}

/** Text areas of the form. */
const LONG: readonly Replaceable[] = ['system_prompt', 'compaction', 'client_tools', 'parameters', 'output_schema'];

/** The unit of a number. */
function unitOf(member: Replaceable): string | undefined {
  return LONG.includes(member) || member === 'pinned' || member === 'mcp_servers' ? undefined : FIELDS[member].hint;
}

function Value({ member, written }: { member: Replaceable; written: ConfigDraft[Replaceable] }) {
  const parts = textsOf(member, written);
  if (parts.length === 0) return <p className={css.value}>{configWords.nothing[member] ?? configWords.none}</p>;
  if (typeof written !== 'string')
    return (
      <ul className={css.names}>
        {parts.map((part) => (
          <li key={part}>{part}</li>
        ))}
      </ul>
    );
  if (!LONG.includes(member)) return <p className={css.value}>{parts}</p>;
  const look = classes(css.value, member !== 'system_prompt' && css.code);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <pre className={look} tabIndex={0} role="region" aria-label={FIELDS[member].label}>
      {parts}
    </pre>
  );
}

/** Empty: nothing is set. */
function textsOf(member: Replaceable, written: ConfigDraft[Replaceable]): string[] {
  if (written === null || isNothing(written)) return [];
  if (typeof written !== 'string')
    return written.map((one) => (typeof one === 'string' ? one : `${one.title}: ${one.text}`));
  if (member === 'mode') return [written === 'plan' ? configWords.modes.plan : configWords.modes.act];
  if (member === 'streaming') return [written === 'on' ? configWords.streaming.on : configWords.streaming.off];
  return [written];
}

import { Plus, Trash2 } from 'lucide-react';
import type { ApprovalRule } from 'nightshift/client';
import { Button, IconButton } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import css from './settings.module.css';

const DECISIONS = [
  { value: 'never', label: 'Runs' },
  { value: 'always', label: 'Asks first' },
  { value: 'deny', label: 'Never runs' },
] as const;

/** Before which tools a person is asked; the first rule that names a tool holds. */
export function ApprovalRules({
  rules,
  tools,
  onChange,
}: {
  rules: readonly ApprovalRule[];
  /** That there are to name. */
  tools: readonly string[];
  onChange: (rules: ApprovalRule[]) => void;
}) {
  const put = (at: number, rule: ApprovalRule): void => onChange(rules.with(at, rule));
  return (
    <fieldset className={css.list}>
      <legend>Approval rules</legend>
      <p className={css.hint}>The first that names a tool holds; * stands for any text.</p>
      {rules.map((rule, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a rule has no name but its place
        <div key={at} className={css.rule}>
          <TextField
            label={`Tool of rule ${at + 1}`}
            hideLabel
            value={rule.tool}
            placeholder="run_*"
            suggestions={tools}
            onChange={({ target }) => put(at, { ...rule, tool: target.value })}
          />
          <Select
            label={`Decision of rule ${at + 1}`}
            value={rule.decision}
            options={DECISIONS}
            onChange={(decision) => put(at, { ...rule, decision })}
          />
          <IconButton
            label={`Remove rule ${at + 1}`}
            size="small"
            onClick={() => onChange(rules.toSpliced(at, 1))}
          >
            <Trash2 />
          </IconButton>
        </div>
      ))}
      <Button size="small" onClick={() => onChange([...rules, { tool: '', decision: 'always' }])}>
        <Plus /> Add a rule
      </Button>
    </fieldset>
  );
}

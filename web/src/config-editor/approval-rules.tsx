import { Plus, Trash2 } from 'lucide-react';
import type { ApprovalRule } from 'nightshift/client';
import { useTools } from '../data/names.ts';
import { Button, IconButton } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';
import css from './config-editor.module.css';
import type { EditedConfig } from './edited.ts';

const DECISIONS = [
  { value: 'never', label: 'Run, unless the tool asks' },
  { value: 'always', label: 'Ask first' },
  { value: 'deny', label: 'Deny' },
] as const;

/** Edits the approval rules. The first rule that matches a tool applies. */
export function ApprovalRules({ edited: { draft, isReadOnly, onChange } }: { edited: EditedConfig }) {
  const rules = draft.approval;
  const tools = [...new Set([...useTools(draft.mcp_servers), ...draft.tools])];
  const set = (approval: ApprovalRule[]): void => onChange({ approval });
  const put = (at: number, rule: ApprovalRule): void => set(rules.with(at, rule));
  return (
    <fieldset className={css.list}>
      <legend>Approval rules</legend>
      <p className={css.hint}>The first rule that matches a tool applies. * matches any text.</p>
      {rules.map((rule, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a rule is identified by its position
        <div key={at} className={css.rule}>
          <TextField
            label={`Tool of rule ${at + 1}`}
            hideLabel
            readOnly={isReadOnly}
            value={rule.tool}
            placeholder="run_*"
            suggestions={tools}
            onChange={({ target }) => put(at, { ...rule, tool: target.value })}
          />
          <Select
            label={`Decision of rule ${at + 1}`}
            disabled={isReadOnly}
            value={rule.decision}
            options={DECISIONS}
            onChange={(decision) => put(at, { ...rule, decision })}
          />
          {!isReadOnly && (
            <IconButton label={`Remove rule ${at + 1}`} size="small" onClick={() => set(rules.toSpliced(at, 1))}>
              <Trash2 />
            </IconButton>
          )}
        </div>
      ))}
      {!isReadOnly && (
        <Button size="small" onClick={() => set([...rules, { tool: '', decision: 'always' }])}>
          <Plus /> Add rule
        </Button>
      )}
    </fieldset>
  );
}

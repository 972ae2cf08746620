import { Trash2 } from 'lucide-react';
import type { ApprovalRule } from 'nightshift/client';
import { IconButton } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';
import css from './config-editor.module.css';
import { EditableList } from './editable-list.tsx';
import type { ListProps } from './editable-list.tsx';

const DECISIONS = [
  { value: 'never', label: 'Run' },
  { value: 'always', label: 'Ask first' },
  { value: 'deny', label: 'Deny' },
] as const;

/** Edits the approval rules. `tools`: suggested names. */
export function ApprovalRules({ tools, ...list }: ListProps<ApprovalRule> & { tools: readonly string[] }) {
  return (
    <EditableList
      {...list}
      legend="Approval rules"
      hint="The first rule that matches a tool applies. * matches any text."
      add="Add rule"
      newItem={{ tool: '', decision: 'always' }}
      className={css.rule}
    >
      {({ item, number, put, remove }) => (
        <>
          <TextField
            label={`Tool of rule ${number}`}
            hideLabel
            readOnly={list.isReadOnly}
            value={item.tool}
            placeholder="run_*"
            suggestions={tools}
            onChange={({ target }) => put({ tool: target.value })}
          />
          <Select
            label={`Decision of rule ${number}`}
            disabled={list.isReadOnly}
            value={item.decision}
            options={DECISIONS}
            onChange={(decision) => put({ decision })}
          />
          {!list.isReadOnly && (
            <IconButton label={`Remove rule ${number}`} size="small" onClick={remove}>
              <Trash2 />
            </IconButton>
          )}
        </>
      )}
    </EditableList>
  );
}

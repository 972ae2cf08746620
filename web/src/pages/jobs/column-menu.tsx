import { Columns3 } from 'lucide-react';
import { Button } from '../../ui/forms/button.tsx';
import { Menu, MenuChecks } from '../../ui/layout/menu.tsx';
import { jobsWords } from '../../words.ts';
import { COLUMNS } from './columns.ts';
import { useColumns } from './use-columns.ts';

const { columns: words, columnsMenu } = jobsWords;

/** Chooses the columns of the table. */
export function ColumnMenu() {
  const [shown, show] = useColumns();
  return (
    <Menu
      trigger={
        <Button>
          <Columns3 aria-hidden="true" /> {columnsMenu}
        </Button>
      }
    >
      <MenuChecks
        label={columnsMenu}
        options={COLUMNS.map((name) => ({ value: name, label: words[name], checked: shown.includes(name) }))}
        onChange={(name, isShown) => show(COLUMNS.filter((one) => (one === name ? isShown : shown.includes(one))))}
      />
    </Menu>
  );
}

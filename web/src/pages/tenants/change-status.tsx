/** Suspends a tenant, or lets it go on. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { commonWords, tenantsWords } from '../../words.ts';

const STATUSES = { suspend: 'suspended', resume: 'active' } as const;

export function ChangeStatus({ name, to, onClose }: { name: string; to: keyof typeof STATUSES; onClose: () => void }) {
  const words = tenantsWords[to];
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: () => client.tenants.update(name, { status: STATUSES[to] }),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.tenants }),
  });
  return (
    <FormDialog
      title={words.title(name)}
      description={words.about}
      submit={commonWords[to]}
      saving={change}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    />
  );
}

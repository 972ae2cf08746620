/** Suspends a tenant, or lets it go on. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';

const TEXTS = {
  suspend: {
    title: 'Suspend',
    about:
      'All its requests are refused within a second, its event streams end, and its runs stop at their next step. Schedules and webhooks stop. Nothing is lost.',
    status: 'suspended',
    notice: 'is suspended',
  },
  resume: {
    title: 'Resume',
    about: 'Its requests are served again, and its jobs go on.',
    status: 'active',
    notice: 'is active',
  },
} as const;

export function ChangeStatus({ name, to, onClose }: { name: string; to: keyof typeof TEXTS; onClose: () => void }) {
  const { title, about, status, notice } = TEXTS[to];
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: () => client.tenants.update(name, { status }),
    onSuccess: () => {
      showNotice(`The tenant ${name} ${notice}`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.tenants }),
  });
  return (
    <FormDialog
      title={`${title} tenant ${name}?`}
      description={about}
      submit={title}
      saving={change}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    />
  );
}

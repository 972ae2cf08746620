/** Ends a throttle early, so that the jobs that wait for it go on. Only the operator sees throttles. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Operations } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { showError, showNotice } from '../../ui/layout/toaster.tsx';
import { settingsWords } from '../../words.ts';

const words = settingsWords.providers;

type Throttled = Operations['DELETE /api/providers/{name}/throttles/{id}']['path'];

/** `model`: its name with that of the provider. */
export function LiftThrottle({ name, id, model }: Throttled & { model: string }) {
  const cache = useQueryClient();
  const lift = useMutation({
    mutationFn: () => client.providers.liftThrottle(name, id),
    onSuccess: () => showNotice(words.lifted(model)),
    onError: (error) => showError(words.liftFailed(model), error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.system }),
  });
  return (
    <Button size="small" busy={lift.isPending} onClick={() => lift.mutate()} aria-label={words.liftOf(model)}>
      {words.lift}
    </Button>
  );
}

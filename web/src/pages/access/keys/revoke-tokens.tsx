/** Ends all tokens of one end user. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { fieldFaults } from '../../../data/field-faults.ts';
import { TextField } from '../../../ui/forms/field.tsx';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { accessWords } from '../../../words.ts';

const words = accessWords.tokens;

export function RevokeTokens({ onClose }: { onClose: () => void }) {
  const [user, setUser] = useState('');
  const revoke = useMutation({
    mutationFn: (name: string) => client.tokens.revoke(name),
    onSuccess: (_, name) => {
      showNotice(words.done(name));
      onClose();
    },
  });
  const faults = fieldFaults(revoke.error, ['user']);
  return (
    <ConfirmDialog
      title={words.confirm}
      description={words.confirmAbout}
      submit={accessWords.keys.revoke}
      canSubmit={user !== ''}
      saving={{ isPending: revoke.isPending, error: faults.rest }}
      onSubmit={() => revoke.mutate(user)}
      onClose={onClose}
    >
      <TextField
        label={words.user}
        required
        maxLength={500}
        autoComplete="off"
        hint={words.userHint}
        value={user}
        error={faults.of('user')}
        onChange={({ target }) => {
          // What was refused is no longer what is written.
          if (revoke.isError) revoke.reset();
          setUser(target.value);
        }}
      />
    </ConfirmDialog>
  );
}

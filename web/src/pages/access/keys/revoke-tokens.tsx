/** Ends all tokens of one end user. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { fieldFaults } from '../../../data/field-faults.ts';
import { TextField } from '../../../ui/forms/field.tsx';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';

export function RevokeTokens({ onClose }: { onClose: () => void }) {
  const [user, setUser] = useState('');
  const revoke = useMutation({
    mutationFn: (name: string) => client.tokens.revoke(name),
    onSuccess: (_, name) => {
      showNotice(`The tokens of ${name} are revoked`);
      onClose();
    },
  });
  const faults = fieldFaults(revoke.error, ['user']);
  return (
    <ConfirmDialog
      title="Revoke tokens of a user?"
      description="All tokens of the user, its sessions of sign-in with OpenID Connect, and their event streams end within a second. Your server can make new tokens."
      submit="Revoke"
      canSubmit={user !== ''}
      saving={{ isPending: revoke.isPending, error: faults.rest }}
      onSubmit={() => revoke.mutate(user)}
      onClose={onClose}
    >
      <TextField
        label="User"
        required
        maxLength={500}
        autoComplete="off"
        hint="Exactly as your server gave it when it made the tokens. For a person who signed in with OpenID Connect: as the audit log shows it."
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

/** Creates a worker and its context from a role or a model. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bot, Cpu, Ellipsis, Plus } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { CreateContext } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { useModels, useProviders } from '../../../data/names.ts';
import { rolesQuery } from '../../../data/query/workers.ts';
import { Button, type ButtonVariant } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../../ui/layout/menu.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { commonWords, contextsWords } from '../../../words.ts';

const words = contextsWords.newWorker;

const MOST_MODELS = 8;
const FORM = 'other-model';

export function NewWorker({ variant, size }: { variant: ButtonVariant; size?: 'small' | 'medium' }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: (wanted: CreateContext) => client.contexts.create(wanted),
    onSuccess: (context) => {
      cache.setQueryData(keys.contextRecord(context.id), context);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      void navigate({ to: '/contexts/$contextId', params: { contextId: context.id } });
    },
    onError: (error) => showError(words.failed, error),
  });
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Menu
        trigger={
          <Button variant={variant} size={size} busy={make.isPending} disabled={make.isPending}>
            {!make.isPending && <Plus aria-hidden="true" />} {words.open}
          </Button>
        }
      >
        <Choices onChoose={make.mutate} onOther={() => setAsking(true)} />
      </Menu>
      <OtherModel open={isAsking} onClose={() => setAsking(false)} onChoose={make.mutate} />
    </>
  );
}

function Choices({ onChoose, onOther }: { onChoose: (wanted: CreateContext) => void; onOther: () => void }) {
  const roles = useQuery(rolesQuery()).data ?? [];
  const models = useModels().slice(0, MOST_MODELS);
  return (
    <>
      {roles.length > 0 && <MenuLabel>{words.withRole}</MenuLabel>}
      {roles.map(({ name, model }) => (
        <MenuItem key={name} icon={<Bot />} note={model} onSelect={() => onChoose({ worker: { name, role: name } })}>
          {name}
        </MenuItem>
      ))}
      {roles.length > 0 && <MenuLine />}
      <MenuLabel>{words.withModel}</MenuLabel>
      {models.map((model) => (
        <MenuItem key={model} icon={<Cpu />} onSelect={() => onChoose(withModel(model))}>
          {model}
        </MenuItem>
      ))}
      <MenuItem icon={<Ellipsis />} onSelect={onOther}>
        {words.otherModel}
      </MenuItem>
    </>
  );
}

function withModel(model: string): CreateContext {
  return { worker: { name: model.split('/').at(-1) ?? model }, config: { model } };
}

/** Dialog for the name of any model of a configured provider. */
function OtherModel({
  open,
  onClose,
  onChoose,
}: {
  open: boolean;
  onClose: () => void;
  onChoose: (wanted: CreateContext) => void;
}) {
  const [model, setModel] = useState('');
  const choose = (event: FormEvent): void => {
    event.preventDefault();
    onChoose(withModel(model.trim()));
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={words.title}
      actions={
        <>
          <Button onClick={onClose}>{commonWords.cancel}</Button>
          <Button variant="primary" type="submit" form={FORM} disabled={!model.trim().includes('/')}>
            {words.submit}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={choose}>
        <ModelName value={model} onChange={setModel} />
      </form>
    </Dialog>
  );
}

function ModelName({ value, onChange }: { value: string; onChange: (model: string) => void }) {
  const providers = useProviders().join(', ');
  return (
    <TextField
      label={words.model}
      placeholder={words.anyModel}
      hint={providers === '' ? words.anyModel : words.providers(providers)}
      autoFocus
      suggestions={useModels()}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

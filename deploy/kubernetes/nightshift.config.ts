// The config file of all processes. Tools that need packages belong in an image of your own: docs/kubernetes.md.
import { defineConfig } from 'nightshift';

export default defineConfig({
  roles: {
    assistant: { system_prompt: 'You answer questions.' },
  },
});

import { definePlugin } from 'nitro';
import { getWorld } from 'workflow/runtime';

/** Continues the workflows that a killed process has left. */
export default definePlugin(() => {
  void getWorld().start?.();
});

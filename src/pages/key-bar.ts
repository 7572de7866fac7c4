/**
 * The form above a viewer in which an API key is pasted, as HTML. The page's script sets `data-state` to `needed`,
 * `refused` or `accepted`, and does the rest; without scripts it is never shown.
 */
export function keyBar(purpose: string): string {
  return `<form id="key-bar" class="key-bar" autocomplete="off" data-state="checking">
<p class="key-bar-needed"><strong>An API key is needed.</strong> ${purpose} Make one with <code>npm run keys -- create --name me</code></p>
<p class="key-bar-refused" role="alert"><strong>This key was refused:</strong> it is unknown, expired or revoked. Make a new one with <code>npm run keys -- create --name me</code></p>
<div class="key-bar-fields">
<input name="key" type="password" aria-label="API key" placeholder="petstore_…" spellcheck="false" autocomplete="off" required>
<button type="submit">Use key</button>
<label title="In this tab's session storage; nothing is kept otherwise"><input name="keep" type="checkbox"> Keep it until this tab is closed</label>
</div>
</form>`;
}

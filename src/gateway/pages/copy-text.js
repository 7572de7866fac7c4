// Runs in the browser: copies a text, or shows it where the browser does not let the page copy.

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector('#copy-by-hand'));
const shown = /** @type {HTMLTextAreaElement} */ (dialog.querySelector('textarea'));
dialog.querySelector('button')?.addEventListener('click', () => dialog.close());

/**
 * Copies a text, and says `done` in `status` when it was copied. Pages on plain http have no clipboard: then a dialog shows
 * the text, selected.
 * @param {string} text @param {HTMLElement} status @param {string} done
 */
export async function copyText(text, status, done) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = `✓ ${done}`;
  } catch {
    status.textContent = '';
    shown.value = text;
    dialog.showModal();
    shown.select();
  }
}

/**
 * Tells whether a new revision of a session holds anything that this window does not show already.
 *
 * A call of one's own answers with the revision it made. As long as the revisions between the view and
 * the newest one are all of that kind, the view is right as it is.
 */
export class Revisions {
  #shown = 0;
  #own = new Set<number>();

  /** The view shows `revision`, and all before it. */
  shows(revision: number): void {
    this.#shown = Math.max(this.#shown, revision);
    for (const own of this.#own) if (own <= this.#shown) this.#own.delete(own);
  }

  /** A call of one's own, already shown, made `revision`. */
  made(revision: number): void {
    if (revision > this.#shown) this.#own.add(revision);
    while (this.#own.delete(this.#shown + 1)) this.#shown++;
  }

  /** Whether `revision` holds something unseen. */
  isNews(revision: number): boolean {
    for (let each = this.#shown + 1; each <= revision; each++) if (!this.#own.has(each)) return true;
    return false;
  }
}

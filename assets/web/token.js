// The token of the server's start, which shows the server that a request comes from its own page.

const HEADER = "x-xtc-viz-token";
const START = "xtc_viz/start";

export class Token {
  #value;
  #home;
  #send;

  /**
   * `home` is the address of the page's server.
   * @param {string} value
   * @param {string} home
   * @param {typeof fetch} send
   */
  constructor(value, home, send) {
    this.#value = value;
    this.#home = home.endsWith("/") ? home : `${home}/`;
    this.#send = send;
  }

  /**
   * `fetch` with the token in what is posted to the server; nobody else learns it.
   * @param {RequestInfo | URL} input
   * @param {RequestInit} [init]
   */
  fetch(input, init) {
    const address = input instanceof Request ? input.url : String(input);
    const posts = init?.method?.toUpperCase() === "POST";
    if (!posts || !new URL(address, this.#home).href.startsWith(this.#home)) {
      return this.#send(input, init);
    }
    const headers = new Headers(init?.headers);
    headers.set(HEADER, this.#value);
    return this.#send(input, { ...init, headers });
  }

  /** Learn the token of the server's present start; whether it is another. Throws without an answer. */
  async renew() {
    const answer = await this.#send(new URL(START, this.#home));
    if (!answer.ok) throw new Error(`The server answers ${answer.status}.`);
    const { token } = await answer.json();
    const renewed = token !== this.#value;
    this.#value = token;
    return renewed;
  }
}

import { ApolloProvider } from '@apollo/client/react';
import { type FormEvent, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from './apollo-client.ts';
import { Pets } from './pets.tsx';
import './style.css';

const ADDRESS = `${import.meta.env.VITE_GATEWAY_URL ?? 'http://127.0.0.1:4000'}/graphql`;

function App() {
  const [key, setKey] = useState('');
  const [wait, setWait] = useState(0);
  const client = useMemo(() => createClient(ADDRESS, key, setWait), [key]);
  const useKey = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setKey(String(new FormData(event.currentTarget).get('key')));
  };
  return (
    <ApolloProvider client={client} key={key}>
      <h1>Animals, by Apollo Client</h1>
      <form onSubmit={useKey}>
        <label>
          API key
          <input name="key" type="password" required pattern="[!-~]+" autoComplete="off" />
        </label>
        <button type="submit">Use this key</button>
      </form>
      <p role="status">{wait > 0 && `No answer yet. Next try after ${wait} s.`}</p>
      {key === '' ? <p>Every request needs an API key. It is forgotten when you leave the page.</p> : <Pets />}
    </ApolloProvider>
  );
}

createRoot(document.getElementsByTagName('main')[0] ?? document.body).render(<App />);

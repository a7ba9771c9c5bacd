"""The dashboard: pages for people, on Streamlit. Nothing else in memdash imports Streamlit."""
